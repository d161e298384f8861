#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "takt/analysis/analyze.hpp"
#include "takt/budget/change.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::budget {

/// One change that guarantees a goal which is not.
struct Remedy {
  Change change;
  /// The chain's bound with it.
  Duration bound{};
};

/// The cheapest single change with which the chain meets its goal and nothing that is met or
/// bounded now is lost. In this order, the first kind that will do: a callback's priority, which
/// costs nothing; a larger budget of one reservation, the one that takes the least of a processor
/// more; another kind of one executor; an executor of its own for one callback, which takes a
/// thread and a processor more. Among equals, the one with the lowest bound. None: there is no such
/// change, or the goal is met.
///
/// Only what the chain's bound depends on is tried (see influencing()): O(log 1000) changes of each
/// reservation's budget under an incremental analysis, and one analysis for each callback's
/// priority, each kind of an executor and each callback. All of them together take as many steps as
/// the options allow one analysis, so that large models have an answer too: none is then not found,
/// rather than not there.
[[nodiscard]] std::optional<Remedy> cheapest_remedy(const model::Model& model, std::size_t chain,
                                                    const analysis::Options& options = {});

}  // namespace takt::budget
