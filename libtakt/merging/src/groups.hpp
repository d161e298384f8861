#pragma once

#include <vector>

#include "takt/model/model.hpp"

namespace takt::merging {

/// Gives the merged callbacks their groups. Callbacks of a node are in one group until a run shows
/// two of them at a time, so groups of different runs cannot be compared by their names: two that a
/// run keeps apart are apart, one that may run beside itself in a run may do so, and what no run
/// shows at a time stays together. O(sum of the squares of the nodes' callbacks · runs).
void merge_groups(model::Model& model, const std::vector<model::Model>& runs);

}  // namespace takt::merging
