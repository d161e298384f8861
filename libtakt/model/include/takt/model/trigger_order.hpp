#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::model {

/// The edge-dependency graph (ros-llama S-1.7): edge (h, i) leads to edge (i, j) if an activation
/// of i along (h, i) may make it publish to j.
struct TriggerOrder {
  /// Indices into Model::edges of the edges that activate their receivers (see samples_messages()),
  /// each after all edges that lead to it. Incomplete if there is a cycle.
  std::vector<std::size_t> edges;
  /// A cycle as "a → b → a"; empty if there is none. On a cycle one activation causes activations
  /// without end, and Def. 1 has no meaning. A cycle of callbacks alone is harmless when trigger
  /// sets break it.
  std::string cycle;
};

/// Linear in the size of the model, and without recursion: chains of edges may be as long as the
/// document.
[[nodiscard]] TriggerOrder trigger_order(const Model& model);

}  // namespace takt::model
