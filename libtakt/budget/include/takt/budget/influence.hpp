#pragma once

#include <vector>

#include "takt/model/model.hpp"

namespace takt::budget {

/// The executors on which a chain's bound depends, by index: those of its callbacks and,
/// transitively, those whose callbacks activate a callback of one that it depends on (ros-llama
/// S-4.5.3), or send messages over a link that such messages or those of the chain take. What a
/// callback samples does not activate it. O(edges × (executors + length of the chain)).
[[nodiscard]] std::vector<model::ExecutorIndex> influencing(const model::Model& model,
                                                            const model::Chain& chain);

}  // namespace takt::budget
