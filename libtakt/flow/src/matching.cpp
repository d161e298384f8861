#include "takt/flow/matching.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "takt/model/topics.hpp"

namespace takt::flow {
namespace {

std::string timer_key(const std::string& node, Duration period) {
  return fmt::format("timer {} {}", period.count(), node);
}

/// Timers that have no period in the model: those that did not keep it, and those that fire once,
/// which are waitables there.
std::string timer_id_key(const std::string& id) { return "timer " + id; }

std::string source_key(const std::string& node, Duration period) {
  return fmt::format("source {} {}", period.count(), node);
}

/// 0: the callback is not periodic.
Duration period_of(const model::Callback& callback) {
  const auto* periodic =
      callback.activation ? std::get_if<model::PeriodicActivation>(&*callback.activation) : nullptr;
  return periodic == nullptr ? Duration{0} : periodic->period;
}

std::string topic_key(const char* kind, const std::string& node, const std::string& topic) {
  return fmt::format("{} {} {}", kind, topic, node);
}

}  // namespace

Matcher::Matcher(const model::Model& model) : model_(model) {
  const auto add = [this](const std::string& key, model::CallbackIndex callback) {
    candidates_[key].callbacks.push_back(callback);
    candidates_[key].taken.push_back(false);
  };
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    const model::Callback& callback = model.callbacks[i];
    const model::CallbackIndex index(i);
    const std::string node = model::node_name(callback);
    switch (callback.kind) {
      case model::CallbackKind::timer:
        if (callback.activation) {
          if (const auto* periodic =
                  std::get_if<model::PeriodicActivation>(&*callback.activation)) {
            add(timer_key(node, periodic->period), index);
            break;
          }
        }
        add(timer_id_key(callback.id), index);
        break;
      case model::CallbackKind::subscription:
        for (const std::string& topic : model::subscribed_topics(model, index)) {
          add(topic_key("subscription", node, topic), index);
        }
        break;
      case model::CallbackKind::service:
        add(topic_key("service", node, model::topic_name(model, index)), index);
        break;
      case model::CallbackKind::client:
        for (const std::string& service : model::subscribed_topics(model, index)) {
          add(topic_key("client", node, service), index);
        }
        break;
      case model::CallbackKind::waitable:
        add("waitable " + node, index);
        add(timer_id_key(callback.id), index);
        break;
      case model::CallbackKind::event_source:
        add(source_key(node, period_of(callback)), index);
        break;
    }
  }
}

std::optional<Matcher::Match> Matcher::match(const execution::Objects& objects,
                                             execution::ObservedCallbackIndex index) {
  const auto [entry, is_new] = decided_.try_emplace(static_cast<std::uint32_t>(index.value()));
  if (!is_new) {
    return entry->second;
  }
  const execution::Callback& callback = objects[index];
  if (callback.continues) return std::nullopt;
  const std::string node = model::absolute(objects.node_name(callback));  // also an unknown one
  std::string topic;
  std::string key;
  switch (callback.kind) {
    case execution::CallbackKind::timer:
      key = timer_key(node, objects[*callback.timer].period);
      if (!candidates_.contains(key)) key = timer_id_key(ids_.of(objects, index));
      break;
    case execution::CallbackKind::subscription:
      topic = objects[*objects.topic_of(callback)];
      key = topic_key("subscription", node, topic);
      break;
    case execution::CallbackKind::service:
      topic = objects[*objects.topic_of(callback)];
      key = topic_key("service", node, topic);
      break;
    case execution::CallbackKind::client:
      topic = objects[*objects.topic_of(callback)];
      key = topic_key("client", node, topic);
      break;
    case execution::CallbackKind::waitable:
      key = "waitable " + node;
      break;
    case execution::CallbackKind::event_source:
      key = source_key(node, objects[*callback.event_source].period);
      break;
    case execution::CallbackKind::unknown:
      return std::nullopt;
  }
  const auto found = candidates_.find(key);
  if (found == candidates_.end()) {
    // The node of a thread is known when it publishes.
    const bool may_have_node =
        callback.event_source && !objects[*callback.event_source].node.has_value();
    if (may_have_node) decided_.erase(entry);
    return std::nullopt;
  }
  Candidates& candidates = found->second;
  std::optional<std::size_t> chosen;
  const bool is_alone = candidates.callbacks.size() == 1 && !candidates.taken[0];
  if (is_alone) chosen = 0;
  const std::string& id = ids_.of(objects, index);
  bool has_its_name = false;
  for (std::size_t i = 0; !is_alone && i < candidates.callbacks.size(); ++i) {
    const model::Callback& candidate = model_[candidates.callbacks[i]];
    if (candidate.id == id) {
      chosen = i;
      break;
    }
    if (candidates.taken[i]) continue;
    const std::string& name = candidate.name.empty() ? candidate.id : candidate.name;
    if (!chosen || (name == callback.symbol && !has_its_name)) {
      chosen = i;
      has_its_name = name == callback.symbol;
    }
  }
  if (chosen) {
    candidates.taken[*chosen] = true;
    entry->second = Match{candidates.callbacks[*chosen], topic};
  }
  return entry->second;
}

}  // namespace takt::flow
