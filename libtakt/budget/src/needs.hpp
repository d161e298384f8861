#pragma once

#include "takt/budget/plan.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/model.hpp"

namespace takt::budget {

/// Adds to each chain that is not guaranteed what it would need. Looks at the first such chain
/// together with those before it; at others as if they were alone, since what is left for them
/// depends on what becomes of the first.
void add_needs(const model::Model& model, const Options& options, ReservationPlan& plan);

}  // namespace takt::budget
