#pragma once

#include "fixed_point/fixed_point.hpp"
#include "system/system.hpp"
#include "takt/analysis/bounds.hpp"
#include "takt/model/model.hpp"

namespace takt::analysis {

/// Bounds reaction time and data age of a chain, whose own bound is known (docs/analysis-theory.md
/// says what they are and why these are bounds). O(edges · callbacks of the chain).
void add_end_to_end(ChainBound& bound, const model::Model& model, const model::Chain& chain,
                    const System& system, FixedPoint& solution);

}  // namespace takt::analysis
