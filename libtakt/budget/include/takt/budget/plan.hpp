#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/budget/mapping.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::budget {

/// The reservation of each of an executor's threads.
struct Reservation {
  model::ExecutorIndex executor;
  Duration budget{};
  Duration deadline{};
  Duration period{};
  /// The budget at which the search for more began (ros-llama Alg. 3).
  Duration start{};
  /// The core that the reservation is pinned to, if the mapping is partitioned.
  std::optional<int> core{};
};

/// Changes that would let a goal be guaranteed. Each is enough on its own, and the smallest of its
/// kind.
struct Needs {
  /// The smallest goal that could be guaranteed: the bound with a whole core for each executor.
  /// None: there is no bound even then.
  std::optional<Duration> goal{};
  /// The number of cores; given only if a whole core for each executor would be enough.
  std::optional<std::size_t> cores{};
  /// A change of one callback's value.
  struct Change {
    model::CallbackIndex callback;
    Duration from{};
    Duration to{};
  };
  /// A shorter longest execution time of one callback: the least reduction in proportion.
  std::optional<Change> execution_time{};
  /// A longer period, or least separation, of one callback: the least growth in proportion.
  std::optional<Change> period{};
  /// All execution times on the executors that the chain depends on, to this percentage.
  std::optional<int> all_execution_times{};
};

/// The result for a chain that has a goal.
struct ChainPlan {
  enum class State {
    guaranteed,
    /// The search found no reservations for it in addition to those of more important chains.
    not_possible,
    /// A more important chain is not guaranteed (ros-llama S-4.5.3).
    degraded,
  };
  /// Index in Model::chains.
  std::size_t chain = 0;
  State state = State::degraded;
  /// The bound with the planned reservations, within the goal if the chain is guaranteed.
  std::optional<Duration> bound{};
  /// What would guarantee the chain, if it is not guaranteed.
  std::optional<Needs> needs{};
};

/// The result of a search for reservations.
struct ReservationPlan {
  /// Sorted by executor. Executors without a reservation serve no guaranteed chain: they run as
  /// best effort.
  std::vector<Reservation> reservations;
  Mapping::Kind mapping = Mapping::Kind::global;
  /// The period of all reservations, if it was chosen by the search.
  std::optional<Duration> period{};
  /// The most important first.
  std::vector<ChainPlan> chains;
  /// Analyses of the model that the search took, and its wall-clock time.
  std::size_t analyses = 0;
  double seconds = 0;

  /// Whether every chain that has a goal is guaranteed.
  [[nodiscard]] bool complete() const;
};

/// The model with the reservations of a plan of it. Executors without one become best effort, which
/// a model calls a dedicated supply.
[[nodiscard]] model::Model with_reservations(model::Model model, const ReservationPlan& plan);

}  // namespace takt::budget
