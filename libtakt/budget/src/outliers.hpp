#pragma once

#include <vector>

#include "cheapest_change.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/budget/outlier.hpp"

namespace takt::budget {

/// For each chain that misses its goal, the single observation without which its bound would be
/// least, if that makes the bound: without it, the bound would be within the goal, or at most three
/// quarters of what it is. One analysis for each observation that matters, those first that stand
/// out most, until the spending is over. `present`: the model's bounds.
[[nodiscard]] std::vector<Outlier> find_outliers(const model::Model& model,
                                                 const analysis::Bounds& present,
                                                 const analysis::Options& options,
                                                 Spending& spending);

}  // namespace takt::budget
