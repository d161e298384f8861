#pragma once

#include "takt/analysis/bounds.hpp"
#include "takt/hops/hops.hpp"
#include "takt/model/model.hpp"

namespace takt::analysis {

/// Bounds of a model with hops, in terms of the original: bounds of hops become bounds of links,
/// and in chains the time on a link is part of the delay to the next segment.
[[nodiscard]] Bounds without_hops(Bounds bounds, const hops::ModelWithHops& linked,
                                  const model::Model& original);

}  // namespace takt::analysis
