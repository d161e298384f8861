#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "activation/propagation.hpp"
#include "exploration/zone.hpp"
#include "system/system.hpp"
#include "takt/base/window_place.hpp"

namespace takt::analysis {

/// What activates an instance: an edge of System::edges, or own_activation.
using Via = std::int32_t;
inline constexpr Via own_activation = -1;

/// Activations of a callback, or messages along an edge, from outside the executor.
struct Source {
  enum class Kind {
    grid,       ///< the k-th within [phase + k · period, … + jitter], each of them, in order
    periodic,   ///< no more than ⌈(Δ + jitter) / period⌉ in any window of length Δ
    distances,  ///< n + 2 of them span distances[n] at least
  };
  Kind kind = Kind::periodic;
  /// The callback that receives, by its position on the executor.
  std::size_t to = 0;
  Via via = own_activation;
  Time period = 0;
  Time jitter = 0;
  Time phase = 0;
  std::vector<Time> distances{};
  /// may_skip: a timer that leaves out expiries while an instance waits (rcl). may_replace: a timer
  /// whose new instance replaces the waiting one.
  bool may_skip = false;
  bool may_replace = false;
  /// For a grid: its index among the grids, and how many releases it has in a hyperperiod.
  std::size_t grid = 0;
  std::int64_t in_hyperperiod = 0;
  /// Unless it is a grid: its first column in the zone of a State.
  Zone::Column column = 0;

  [[nodiscard]] std::size_t columns() const {
    return kind == Kind::grid ? 0 : kind == Kind::periodic ? 1 : distances.size();
  }
  /// A release that is longer ago than this makes no difference any more.
  [[nodiscard]] Time memory() const {
    return kind == Kind::periodic ? period + jitter : distances.back();
  }
  /// The least time from a decision of the thread to a release that was not seen at the decision.
  /// Messages of others may have been sent at that very instant, by what has just begun.
  [[nodiscard]] Time unseen() const { return via == own_activation ? 1 : 0; }
};

/// A stretch of a chain on one executor, whose longest time is looked for.
struct Track {
  std::vector<CallbackIndex> callbacks;
};

/// One executor as it is explored.
struct Problem {
  enum class Rule {
    ready_set,  ///< the default executor
    key,        ///< by priority, then by `order`
  };
  /// The order of instances of equal priority.
  enum class Order { activation, deadline };

  struct Send {
    Via edge = 0;
    std::size_t to = 0;
    Time delay = 0;
    /// Whether only some instances send.
    bool optional = false;
    /// The activations of the sender that make it send; none if all do.
    std::optional<std::vector<Via>> triggers{};
  };
  struct Callback {
    CallbackIndex index{};
    Time least_cost = 0;
    Time cost = 0;
    bool polled = true;
    WindowPlace place{};
    std::int64_t priority = 0;
    Time deadline = 0;
    std::optional<std::size_t> depth{};
    std::vector<Send> sends{};
    /// Index into `joins`.
    std::optional<std::size_t> join{};
  };
  struct Join {
    model::JoinKind kind = model::JoinKind::and_;
    /// The edges of each input.
    std::vector<std::vector<Via>> inputs;
    /// Where its counts begin among those of all joins.
    std::size_t first = 0;
  };

  Rule rule = Rule::ready_set;
  Order order = Order::activation;
  std::vector<Callback> callbacks;
  std::vector<Source> sources;
  std::vector<Join> joins;
  std::size_t join_inputs = 0;
  std::vector<Track> tracks;
  std::size_t grids = 0;
  Time hyperperiod = 0;
  /// n instances that run one right after the other take n - 1 times this less than the sum of
  /// their costs, since the overheads of consecutive instances bound each other. 0: they do not.
  Time spared = 0;
  /// Columns of a state's zone that do not depend on what waits: its time, the beginning of the
  /// hyperperiod, State::work where something is spared, and what sources remember.
  std::size_t fixed_columns = 2;

  /// The sending along an edge within the executor.
  [[nodiscard]] const Send& send(Via edge) const;
};

/// Why an executor is not explored.
struct Unexplorable {
  std::string reason;
};

/// Compiles an executor. `response`: the bounds found so far, of all callbacks; `curves`: those
/// that follow from them.
[[nodiscard]] std::optional<Unexplorable> compile(const System& system, ExecutorIndex executor,
                                                  const Curves& curves,
                                                  const std::vector<Duration>& response,
                                                  Problem& problem);

}  // namespace takt::analysis
