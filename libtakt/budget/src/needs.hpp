#pragma once

#include "takt/budget/plan.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/model.hpp"

namespace takt::budget {

/// Adds to each chain that is not guaranteed the changes that it would need. The first such chain
/// is examined together with those before it. The others are examined as if they were alone,
/// because the room left for them depends on how the first one is helped.
void add_needs(const model::Model& model, const Options& options, ReservationPlan& plan);

}  // namespace takt::budget
