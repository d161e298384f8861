#include "takt/model/topics.hpp"

#include <algorithm>
#include <cctype>

namespace takt::model {

std::string absolute(const std::string& name) { return name.starts_with('/') ? name : "/" + name; }

std::string node_name(const Callback& callback) {
  return callback.node.empty() ? "/takt" : absolute(callback.node);
}

std::string topic_name(const Callback& callback) {
  if (callback.topic) return absolute(*callback.topic);
  std::string id = callback.id;
  std::ranges::replace_if(
      id, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return "/takt/callback_" + id;
}

std::string topic_name(const Model& model, const Edge& edge) {
  return edge.topic ? absolute(*edge.topic) : topic_name(model[edge.to]);
}

std::set<std::string> subscribed_topics(const Model& model, CallbackIndex callback) {
  std::set<std::string> topics;
  for (const Edge& edge : model.edges) {
    if (edge.to == callback) topics.insert(topic_name(model, edge));
  }
  if (topics.empty()) topics.insert(topic_name(model[callback]));
  return topics;
}

}  // namespace takt::model
