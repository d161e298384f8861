#pragma once

#include <set>
#include <string>

#include "takt/model/model.hpp"

/// The names of a model's entities in a running ROS 2: `takt run` gives them these names, and
/// recordings and plans are matched by them.
namespace takt::model {

/// A name with a leading slash.
[[nodiscard]] std::string absolute(const std::string& name);

/// The callback's node.
[[nodiscard]] std::string node_name(const Callback& callback);

/// The topic of a subscription or the name of a service: the model's, else one made of its id that
/// no other callback has. O(callbacks) if the id has characters that a topic cannot have.
[[nodiscard]] std::string topic_name(const Model& model, CallbackIndex callback);

/// The topic of the messages along an edge: the edge's, else its receiver's.
[[nodiscard]] std::string topic_name(const Model& model, const Edge& edge);

/// The topics that a subscription receives: those of its edges, else its own.
[[nodiscard]] std::set<std::string> subscribed_topics(const Model& model, CallbackIndex callback);

}  // namespace takt::model
