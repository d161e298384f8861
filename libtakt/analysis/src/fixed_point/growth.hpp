#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "activation/propagation.hpp"
#include "executors/executor_analysis.hpp"
#include "system/system.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// What the long-run rates of a component's curves tell about its least fixed point.
struct Growth {
  /// Lower bounds of the callbacks' bounds, for all callbacks of the system.
  std::vector<Duration> least;
  /// Callbacks of the component that have no bounds: they make each other grow for ever.
  std::vector<CallbackIndex> endless;
};

/// Looks ahead from bounds that are at most the least fixed point (docs/analysis-theory.md, "The
/// proofs that there is no bound").
///
/// Let G be the equations of the analyses with lines in place of curves (demand/long_run.hpp), G'
/// those of a direction, x a point below the least fixed point with G(x) >= x + δ·v, δ > 0, v >= 0,
/// and G'(v) >= μ·v. If the fixed point is at least x + t·v, it is also at least
/// G(x + t·v) >= G(x) + t·G'(v) >= x + (δ + μ·t)·v, and so on: it is at least
/// x + δ·(1 + μ + μ² + …)·v. If μ >= 1, the bounds along v have no limit; otherwise the search goes
/// on from x + δ/(1 - μ)·v.
///
/// The points are those of the iteration x := max(x, (x + G(x)) / 2), which stays below the fixed
/// point, and v is its latest step. v tends to the direction in which x grows for ever, if it does,
/// as in the power iteration; halves keep the iteration from oscillating.
[[nodiscard]] Growth look_ahead(const Round& round, const Component& component,
                                const std::vector<std::unique_ptr<ExecutorAnalysis>>& executors);

}  // namespace takt::analysis
