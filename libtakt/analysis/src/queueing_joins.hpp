#pragma once

#include <string>
#include <vector>

#include "fixed_point/fixed_point.hpp"
#include "system/system.hpp"
#include "takt/model/model.hpp"

namespace takt::analysis {

/// The callbacks of declared `newest` joins whose messages may wait side by side at an executor
/// with a wait set. It takes one message of each input at a time, while the analyses let messages
/// count when they come: there, an input's newer message replaces one that waits. So such joins may
/// complete sets, and messages may wait, beyond what the bounds count.
///
/// No message waits beside another of its input if the input's messages are further apart than the
/// join's bound, or if the queue holds one. For inferred joins the reading without the join covers
/// it (readings.hpp).
[[nodiscard]] std::vector<std::string> queueing_joins(const model::Model& model,
                                                      const System& system,
                                                      const FixedPoint& solution);

}  // namespace takt::analysis
