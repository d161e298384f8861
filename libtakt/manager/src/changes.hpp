#pragma once

#include <string>
#include <vector>

#include "takt/manager/decision.hpp"

namespace takt::manager {

/// What is different in the later decision, a line for each chain and executor.
[[nodiscard]] std::vector<std::string> changes(const Decision& before, const Decision& after);

}  // namespace takt::manager
