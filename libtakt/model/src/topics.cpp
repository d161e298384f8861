#include "takt/model/topics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace takt::model {

std::string absolute(const std::string& name) { return name.starts_with('/') ? name : "/" + name; }

std::string node_name(const Callback& callback) {
  return callback.node.empty() ? "/takt" : absolute(callback.node);
}

namespace {

/// The id with '_' in place of what a topic's name cannot have.
std::string plain(std::string id) {
  std::ranges::replace_if(
      id, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return id;
}

}  // namespace

std::string topic_name(const Model& model, CallbackIndex callback) {
  const Callback& named = model[callback];
  if (named.topic) return absolute(*named.topic);
  const std::string own = plain(named.id);
  std::string name = "/takt/callback_" + own;
  if (own == named.id) return name;
  const auto is_alike = [&](const Callback& other) {
    return !other.topic && plain(other.id) == own;
  };
  const bool is_unique = std::ranges::count_if(model.callbacks, is_alike) == 1;
  return is_unique ? name : fmt::format("{}/number_{}", name, callback.value());
}

std::string topic_name(const Model& model, const Edge& edge) {
  return edge.topic ? absolute(*edge.topic) : topic_name(model, edge.to);
}

std::set<std::string> subscribed_topics(const Model& model, CallbackIndex callback) {
  std::set<std::string> topics;
  for (const Edge& edge : model.edges) {
    if (edge.to == callback) topics.insert(topic_name(model, edge));
  }
  if (topics.empty()) topics.insert(topic_name(model, callback));
  return topics;
}

}  // namespace takt::model
