#pragma once

#include <vector>

#include "takt/budget/mapping.hpp"
#include "takt/budget/plan.hpp"
#include "takt/model/model.hpp"

namespace takt::budget {

/// Gives the plan's reservations the unused rest of the cores: all budgets grow by the same factor,
/// up to the cores' capacity. A thread runs no longer than its callbacks need, but with a larger
/// budget it is throttled less often on the way. The mapping stays as it is; budgets that do not
/// fit into `cores` are left alone. O(n log n) for each of about ten steps.
[[nodiscard]] std::vector<Reservation> spread(const model::Model& model,
                                              const ReservationPlan& plan, const Cores& cores);

}  // namespace takt::budget
