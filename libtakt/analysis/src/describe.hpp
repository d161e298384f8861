#pragma once

#include "fixed_point.hpp"
#include "system.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/model/model.hpp"

namespace takt::analysis {

/// As many callbacks and chains as the model has, none with a bound yet.
[[nodiscard]] Bounds blank_bounds(const model::Model& model, const Options& options);

/// Solves what is stale, and brings the bounds of callbacks and chains on the executors analysed
/// for it up to date.
void solve(const model::Model& model, const System& system, FixedPoint& solution, Bounds& bounds);

}  // namespace takt::analysis
