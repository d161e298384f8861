#pragma once

#include <string>

#include "takt/model/model.hpp"

namespace takt::model {

/// A cycle of the edge-dependency graph (ros-llama S-1.7), as "a → b → a"; empty if there is none.
/// Edge (h, i) leads to edge (i, j) if an activation of i along (h, i) may make it publish to j. On
/// such a cycle one activation causes activations without end, and Def. 1 has no meaning. A cycle
/// of callbacks alone is harmless when trigger sets break it. Linear in the size of the model.
[[nodiscard]] std::string find_trigger_cycle(const Model& model);

}  // namespace takt::model
