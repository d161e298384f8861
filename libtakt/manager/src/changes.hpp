#pragma once

#include <map>
#include <string>
#include <vector>

#include "takt/manager/decision.hpp"

namespace takt::manager {

/// What people call executors, by their ids.
using Labels = std::map<std::string, std::string>;

/// What is different in the later decision, a line for each chain and executor. One without a label
/// is called by its id.
[[nodiscard]] std::vector<std::string> changes(const Decision& before, const Decision& after,
                                               const Labels& labels);

}  // namespace takt::manager
