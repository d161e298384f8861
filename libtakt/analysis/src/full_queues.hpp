#pragma once

#include <string>
#include <vector>

#include "fixed_point/fixed_point.hpp"
#include "system/system.hpp"
#include "takt/model/model.hpp"

namespace takt::analysis {

/// Whether more messages to the callback may wait, or run, within its bound than its queue holds:
/// then some may be lost. False without a bound.
[[nodiscard]] bool may_be_full(const System& system, const FixedPoint& solution,
                               CallbackIndex callback);

/// The ids of the callbacks for which may_be_full() holds.
[[nodiscard]] std::vector<std::string> full_queues(const model::Model& model, const System& system,
                                                   const FixedPoint& solution);

}  // namespace takt::analysis
