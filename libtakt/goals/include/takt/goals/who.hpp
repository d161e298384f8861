#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/model/model.hpp"

/// Whom a name in a goal stands for.
namespace takt::goals {

/// Where on a chain the name stands. A chain that begins at a topic begins with those who receive
/// its messages, as latency counts from a message's arrival (ros-llama S-4.1); one that ends at a
/// topic ends with those who publish to it.
enum class Place { first, between, last };

/// The callbacks that `name` stands for, in the model's order; none if nothing is called so. A
/// topic that nobody receives (at the end: nobody publishes) stands for those at its other side. A
/// name that is a node's, a topic's and a callback's stands for all of these.
[[nodiscard]] std::vector<model::CallbackIndex> who(const model::Model& model,
                                                    std::string_view name, Place place);

/// Names of the model that `name` may have been meant to be, those that are most alike, at most
/// three.
[[nodiscard]] std::vector<std::string> near_misses(const model::Model& model,
                                                   std::string_view name);

}  // namespace takt::goals
