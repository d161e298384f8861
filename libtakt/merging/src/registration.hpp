#pragma once

#include <vector>

#include "takt/model/model.hpp"

namespace takt::merging {

/// Numbers the merged callbacks so that those of an executor and kind are in the order in which
/// every run registered them. A run numbers the callbacks that ran. Executors that went by
/// registration go by categories alone where the runs contradict each other; these are returned.
[[nodiscard]] std::vector<model::ExecutorIndex> merge_registrations(
    model::Model& model, const std::vector<model::Model>& runs);

}  // namespace takt::merging
