#pragma once

#include <map>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"

namespace takt::merging {

/// Gives each executor the id that it has in the first run that shows one of its callbacks.
/// Executors that no program has announced are numbered in the order in which their callbacks were
/// made, which differs from run to run. They are the same if they run the same callbacks. Returns
/// the new ids of each run by the old ones. Fails if two callbacks share an executor in some runs
/// and not in others.
[[nodiscard]] Result<std::vector<std::map<std::string, std::string>>> align_executors(
    std::vector<model::Model>& runs);

/// Numbers executors, callbacks and links of all runs as the merged model has them: each id once,
/// in the order in which they first appear.
void renumber(std::vector<model::Model>& runs);

}  // namespace takt::merging
