#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "executor_analysis.hpp"
#include "propagation.hpp"
#include "system.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// What is known of the least fixed point of a component from the long-run rates of its curves.
struct Growth {
  /// Its bounds are not below these; of all callbacks.
  std::vector<Duration> least;
  /// These have no bounds: they make each other grow for ever. At most all of the component.
  std::vector<CallbackIndex> endless;
};

/// Looks ahead from bounds that are below the least fixed point, or at it (docs/analysis.md, "When
/// there is no bound").
///
/// Let G be the equations of the analyses with lines in place of curves (fluid.hpp), G' those of a
/// direction, x a point below the least fixed point with G(x) >= x + δ·v, δ > 0, v >= 0, and
/// G'(v) >= μ·v. If the fixed point is not below x + t·v, it is not below
/// G(x + t·v) >= G(x) + t·G'(v) >= x + (δ + μ·t)·v either, and so on: it is not below
/// x + δ·(1 + μ + μ² + …)·v. If μ >= 1, bounds that v makes grow have no limit; otherwise the
/// search goes on from x + δ/(1 - μ)·v.
///
/// Points and directions are those of the iteration x := max(x, (x + G(x)) / 2), which stays below
/// the fixed point: v is what it has grown by, and tends to the direction in which it grows for
/// ever, if it does (as the power iteration does; halves keep it from swinging to and fro).
[[nodiscard]] Growth look_ahead(const System& system, const Curves& curves,
                                const Component& component,
                                const std::vector<std::unique_ptr<ExecutorAnalysis>>& executors,
                                const std::vector<Duration>& response);

}  // namespace takt::analysis
