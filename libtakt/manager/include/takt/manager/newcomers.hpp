#pragma once

#include <set>
#include <string>
#include <vector>

#include "takt/manager/situation.hpp"

namespace takt::manager {

/// Settles what is to be done about executors of which too little was seen, `unknown`, each with
/// what has to be seen first. `reserved` are the executors that have reservations now.
///
/// - One that has a reservation keeps it: it is unproved until its callbacks were seen.
/// - One that leads to an executor with a reservation, and has none, is a newcomer: a node that
///   joins sends to a chain that is guaranteed. It is left out of the situation's model with the
///   ways through it, so that reservations stay as they are. What it leads to is unproved.
/// - All others are doubts.
///
/// O(executors × edges).
void settle_unknown(Situation& situation, const std::vector<Doubt>& unknown,
                    const std::set<std::string>& reserved);

}  // namespace takt::manager
