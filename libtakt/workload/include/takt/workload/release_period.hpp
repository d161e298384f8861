#pragma once

#include "takt/model/model.hpp"

namespace takt::workload {

/// The period with which `takt run` activates what the model activates from outside: the shortest
/// strictly periodic pattern that keeps to the activation curve. Jitter and bursts that the curve
/// would allow are not produced.
[[nodiscard]] Duration release_period(const model::Activation& activation);

}  // namespace takt::workload
