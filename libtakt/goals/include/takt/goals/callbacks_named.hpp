#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/model/model.hpp"

/// The callbacks that a name in a goal stands for.
namespace takt::goals {

/// The place of the name on a chain. A chain that begins at a topic begins with the callbacks that
/// receive its messages, as latency counts from a message's arrival (ros-llama S-4.1). A chain that
/// ends at a topic ends with the callbacks that publish to it.
enum class Place { first, between, last };

/// The callbacks that `name` stands for, in the model's order; none if nothing has that name. If
/// nobody receives a topic (at the end of a chain: nobody publishes it), the topic stands for the
/// callbacks at its other side. A name of a node, a topic and a callback stands for all of them.
[[nodiscard]] std::vector<model::CallbackIndex> callbacks_named(const model::Model& model,
                                                                std::string_view name, Place place);

/// The names in the model that are most similar to `name`, to propose instead of it: at most three.
[[nodiscard]] std::vector<std::string> near_misses(const model::Model& model,
                                                   std::string_view name);

}  // namespace takt::goals
