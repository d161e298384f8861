#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "takt/analysis/analyze.hpp"
#include "takt/budget/change.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::budget {

/// One change that guarantees a goal that is not guaranteed now.
struct Remedy {
  Change change;
  /// The chain's bound with it.
  Duration bound{};
};

/// The cheapest single change with which the chain meets its goal and no other goal that is met now
/// and no bound is lost. Kinds of changes are tried in this order until one will do: a callback's
/// priority, which costs nothing; a larger budget of one reservation, the one that takes the least
/// of a processor more; another kind of one executor; an executor of its own for one callback,
/// which takes a thread and a processor more. Among equals, the one with the lowest bound. None:
/// there is no such change, or the goal is met.
///
/// Only changes of executors on which the chain's bound depends are tried (see influencing()):
/// O(log 1000) changes of each reservation's budget under an incremental analysis, and one analysis
/// for each callback's priority, each kind of an executor and each callback. All of them together
/// take as many steps as the options allow one analysis, so that large models have an answer too.
/// When the steps are used up, none means that no change was found, not that there is none.
[[nodiscard]] std::optional<Remedy> cheapest_remedy(const model::Model& model, std::size_t chain,
                                                    const analysis::Options& options = {});

}  // namespace takt::budget
