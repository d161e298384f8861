#pragma once

#include <string>

#include "fixed_point/fixed_point.hpp"
#include "system/system.hpp"
#include "takt/model/model.hpp"

namespace takt::analysis {

/// Why a callback has no bound, in one line for the user.
[[nodiscard]] std::string why_unbounded(const model::Model& model, const System& system,
                                        const FixedPoint& solution, CallbackIndex callback);

}  // namespace takt::analysis
