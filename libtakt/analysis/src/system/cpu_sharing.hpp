#pragma once

#include <string>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::analysis {

/// For each executor, why it cannot count on the supply that the model gives it, in one line: it
/// shares its `cpu` with others in a way that this analysis does not bound, or they need more than
/// there is. Empty if it can.
///
/// Reservations on one processor are scheduled earliest deadline first: they get their budgets if
/// and only if their demand never exceeds the time there is (Baruah, Rosier, Howell, 1990); with
/// deadlines equal to periods that is a total bandwidth of at most 1. If a limited number of steps
/// does not decide it, none of them can count on its budget. They come before threads without a
/// reservation. Slots get theirs if they do not overlap.
[[nodiscard]] std::vector<std::string> cpu_contention(const model::Model& model);

}  // namespace takt::analysis
