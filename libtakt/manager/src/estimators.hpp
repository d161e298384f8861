#pragma once

#include "takt/manager/decision.hpp"
#include "takt/manager/situation.hpp"

namespace takt::manager {

/// While a chain is degraded, the estimators of the guaranteed ones are to use their cheap mode.
/// One whose chain is not guaranteed is not asked: the cheap mode is safe only as long as the way
/// out of it takes no longer than its design says, and that is what a guarantee is for.
void decide_estimators(const Situation& situation, Decision& decision);

}  // namespace takt::manager
