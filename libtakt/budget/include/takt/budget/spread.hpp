#pragma once

#include <vector>

#include "takt/budget/mapping.hpp"
#include "takt/budget/plan.hpp"
#include "takt/model/model.hpp"

namespace takt::budget {

/// Gives what the plan's reservations leave of the cores to them, too: all budgets grow by the same
/// factor, up to the cores' capacity. A thread runs no longer than its callbacks want, but with a
/// larger budget it is less often throttled on the way. The mapping stays as it is; budgets that
/// do not fit into `cores` are left alone. O(n log n) for each of about ten steps.
[[nodiscard]] std::vector<Reservation> spread(const model::Model& model,
                                              const ReservationPlan& plan, const Cores& cores);

}  // namespace takt::budget
