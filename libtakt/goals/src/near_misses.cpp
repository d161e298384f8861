#include <set>

#include "known_names.hpp"
#include "takt/base/near_names.hpp"
#include "takt/goals/callbacks_named.hpp"
#include "takt/model/topics.hpp"

namespace takt::goals {

namespace {

using model::Model;

/// All names that a goal may use: nodes, topics, "node:topic", and callbacks.
std::vector<std::string> known_names(const Model& model) {
  std::vector<std::string> names;
  std::vector<Topics> topics = topics_of_callbacks(model);
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    const model::Callback& callback = model.callbacks[i];
    topics[i].received.merge(topics[i].published);
    for (const std::string& topic : topics[i].received) {
      names.push_back("/" + topic);
      if (!callback.node.empty()) names.push_back(model::node_name(callback) + ":/" + topic);
    }
    if (!callback.node.empty()) names.push_back(model::node_name(callback));
  }
  for (const model::Callback& callback : model.callbacks) {
    names.push_back(callback.name.empty() ? callback.id : callback.name);
  }
  return names;
}

}  // namespace

std::vector<std::string> near_misses(const Model& model, std::string_view name) {
  return near_names(known_names(model), name);
}

}  // namespace takt::goals
