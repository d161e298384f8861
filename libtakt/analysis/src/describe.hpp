#pragma once

#include "fixed_point/fixed_point.hpp"
#include "system/system.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/model/model.hpp"

namespace takt::analysis {

/// The callbacks and chains of the model, none with a bound yet.
[[nodiscard]] Bounds blank_bounds(const model::Model& model, const Options& options);

/// Solves the components that are stale, and updates the bounds of the callbacks and chains on
/// their executors.
void solve(const model::Model& model, const System& system, FixedPoint& solution, Bounds& bounds);

}  // namespace takt::analysis
