#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/analysis/analyze.hpp"
#include "takt/budget/change.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/model.hpp"

namespace takt::budget {

/// The analyses that a search takes.
struct Spending {
  /// The steps that are left (see analysis::Options::effort); less than none: they are used up.
  std::int64_t left = 0;
  std::size_t analyses = 0;

  [[nodiscard]] bool is_over() const { return left <= 0; }
  void add(const analysis::Bounds& bounds) {
    left -= bounds.steps;
    ++analyses;
  }
};

/// Whether nothing speaks against it that these chains of a model that meets their goals are
/// guaranteed: the cores admit the model as it stands, and search() would not call reservations for
/// the chains impossible. O(log 1000) analyses for each executor.
[[nodiscard]] bool may_promise(const model::Model& model, std::span<const std::size_t> chains,
                               Options options, Spending& spending);

/// What speaks for a change, apart from the bounds with it.
enum class Ground {
  /// may_promise() holds.
  reservations,
  /// The cores admit it (see admit()), though there may be no reservations for it.
  cores,
};

/// The cheapest single change with which the chain meets its goal and no other goal that is met now
/// and no bound is lost, and for which there is this ground. Kinds of changes are tried in this
/// order until one will do: a callback's priority, which costs nothing; a larger budget of one
/// reservation, the one that takes the least of a processor more; another kind of one executor; an
/// executor of its own for one callback, which takes a thread and a processor more. Among equals,
/// the one with the lowest bound. None: there is no such change, or the goal is met.
///
/// Only changes of executors on which the chain's bound depends are tried (see influencing()):
/// O(log 1000) changes of each reservation's budget under an incremental analysis, and one analysis
/// for each callback's priority, each kind of an executor and each callback. They end
/// when the spending is over: then none means that no change was found, not that there is none.
[[nodiscard]] std::optional<Change> cheapest_change(const model::Model& model, std::size_t chain,
                                                    const Options& options, Ground ground,
                                                    Spending& spending);

}  // namespace takt::budget
