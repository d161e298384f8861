#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/budget/change.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::budget {

/// An executor of its own for one callback.
struct OwnExecutor {
  Split change;
  /// The bound of the chain with it, on the supplies that the model has.
  Duration bound{};
};

/// The executors of their own that lower a chain's bound, the lowest bound first: each for one
/// callback of an executor on which the bound depends (see influencing()) and which runs others,
/// too. Whether cores are there for it is not asked. `chain` is an index in Model::chains. One
/// analysis for each of these callbacks.
[[nodiscard]] std::vector<OwnExecutor> own_executors(const model::Model& model, std::size_t chain,
                                                     const analysis::Options& options = {});

/// The same as a JSON list: of each its `change`, as parse_changes() reads it, and its `bound` in
/// nanoseconds.
[[nodiscard]] std::string to_json(const model::Model& model, const std::vector<OwnExecutor>& found);

}  // namespace takt::budget
