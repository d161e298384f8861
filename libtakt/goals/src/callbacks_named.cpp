#include "takt/goals/callbacks_named.hpp"

#include <algorithm>

#include "known_names.hpp"
#include "takt/model/topics.hpp"

namespace takt::goals {

namespace {

using model::CallbackIndex;
using model::Model;

/// The callbacks for which `matches` is true.
template <typename Matches>
std::vector<CallbackIndex> select(const Model& model, Matches matches) {
  std::vector<CallbackIndex> selected;
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    if (matches(CallbackIndex{i})) selected.emplace_back(i);
  }
  return selected;
}

/// The candidates at the side of the topic that `place` asks for, or those at the other side if
/// there are none.
std::vector<CallbackIndex> beside(const Model& model, const std::vector<CallbackIndex>& candidates,
                                  const std::string& topic, Place place) {
  std::vector<CallbackIndex> receivers;
  std::vector<CallbackIndex> publishers;
  const std::vector<Topics> topics = topics_of_callbacks(model);
  for (const CallbackIndex callback : candidates) {
    if (topics[callback.value()].received.contains(topic)) receivers.push_back(callback);
    if (topics[callback.value()].published.contains(topic)) publishers.push_back(callback);
  }
  if (place == Place::between) {
    receivers.insert(receivers.end(), publishers.begin(), publishers.end());
    return receivers;
  }
  auto& wanted = place == Place::first ? receivers : publishers;
  auto& others = place == Place::first ? publishers : receivers;
  return wanted.empty() ? others : wanted;
}

std::vector<CallbackIndex> callbacks_of_node(const Model& model, std::string_view node) {
  return select(model, [&](CallbackIndex callback) {
    return !model[callback].node.empty() && bare(model[callback].node) == node;
  });
}

}  // namespace

std::vector<Topics> topics_of_callbacks(const Model& model) {
  std::vector<Topics> topics(model.callbacks.size());
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    if (const auto& own = model.callbacks[i].topic) topics[i].received.emplace(bare(*own));
  }
  for (const model::Edge& edge : model.edges) {
    if (edge.confidence) continue;  // what is kept is published nowhere
    if (edge.topic) topics[edge.to.value()].received.emplace(bare(*edge.topic));
    const auto& topic = edge.topic ? edge.topic : model[edge.to].topic;
    if (topic) topics[edge.from.value()].published.emplace(bare(*topic));
  }
  return topics;
}

std::vector<CallbackIndex> callbacks_named(const Model& model, std::string_view name, Place place) {
  const std::string sought(bare(name));
  std::vector<CallbackIndex> found = select(model, [&](CallbackIndex callback) {
    return bare(model[callback].id) == sought || bare(model[callback].name) == sought;
  });
  const auto add = [&](const std::vector<CallbackIndex>& more) {
    found.insert(found.end(), more.begin(), more.end());
  };
  add(callbacks_of_node(model, sought));
  add(beside(model, select(model, [](CallbackIndex) { return true; }), sought, place));
  // A node's name has no colon.
  if (const std::size_t colon = sought.find(':'); colon != std::string::npos) {
    const auto node = callbacks_of_node(model, std::string_view(sought).substr(0, colon));
    add(beside(model, node, std::string(bare(std::string_view(sought).substr(colon + 1))), place));
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

}  // namespace takt::goals
