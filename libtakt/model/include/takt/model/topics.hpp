#pragma once

#include <set>
#include <string>

#include "takt/model/model.hpp"

/// What the entities of a model are called on a running ROS 2: how `takt run` names them, how
/// recordings of them are matched, and how plans address them.
namespace takt::model {

/// A name with a leading slash.
[[nodiscard]] std::string absolute(const std::string& name);

/// The callback's node.
[[nodiscard]] std::string node_name(const Callback& callback);

/// The topic of a subscription or the name of a service: the model's, else one made of its id.
[[nodiscard]] std::string topic_name(const Callback& callback);

/// The topic of the messages along an edge: the edge's, else its receiver's.
[[nodiscard]] std::string topic_name(const Model& model, const Edge& edge);

/// The topics that a subscription receives: those of its edges, else its own.
[[nodiscard]] std::set<std::string> subscribed_topics(const Model& model, CallbackIndex callback);

}  // namespace takt::model
