#pragma once

#include "takt/budget/plan.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/model.hpp"

namespace takt::budget {

/// Adds the changes that it would need to the first chain that is not guaranteed. What the chains
/// after it would need depends on how that one is helped. Takes about as many steps as
/// `options.effort` says, and adds them to the plan's.
void add_needs(const model::Model& model, const Options& options, ReservationPlan& plan);

}  // namespace takt::budget
