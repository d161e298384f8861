#pragma once

#include <string>
#include <vector>

#include "takt/manager/decision.hpp"
#include "words.hpp"

namespace takt::manager {

/// Says in a line for each chain and executor what is different in the later decision. An executor
/// without a label is called by its id.
[[nodiscard]] std::vector<std::string> changes(const Decision& before, const Decision& after,
                                               const Labels& labels);

}  // namespace takt::manager
