#pragma once

#include "fixed_point.hpp"
#include "system.hpp"
#include "takt/analysis/bounds.hpp"
#include "takt/model/model.hpp"

namespace takt::analysis {

/// The bound of a chain once the bounds of callbacks are known (ros-llama S-3.7): the sum over its
/// longest segments on one executor, and over the edges between them.
[[nodiscard]] ChainBound chain_bound(const model::Model& model, const model::Chain& chain,
                                     const System& system, FixedPoint& solution);

}  // namespace takt::analysis
