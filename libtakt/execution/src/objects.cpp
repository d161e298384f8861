#include "takt/execution/objects.hpp"

#include <algorithm>

#include "takt/base/grow.hpp"

namespace takt::execution {

std::string_view to_string(CallbackKind kind) {
  switch (kind) {
    case CallbackKind::timer:
      return "timer";
    case CallbackKind::subscription:
      return "subscription";
    case CallbackKind::service:
      return "service";
    case CallbackKind::client:
      return "client";
    case CallbackKind::waitable:
      return "waitable";
    case CallbackKind::event_source:
      return "event_source";
    case CallbackKind::unknown:
      break;
  }
  return "unknown";
}

bool Objects::has_all_links(ProcessIndex process) const {
  const auto declared = value_at(declared_links, process);
  const auto known = std::ranges::count(input_links, process, &InputLink::process);
  return declared && *declared == static_cast<std::uint64_t>(known);
}

std::optional<NodeIndex> Objects::node_of(const Callback& callback) const {
  switch (callback.kind) {
    case CallbackKind::timer:
      return (*this)[*callback.timer].node;
    case CallbackKind::subscription:
      return (*this)[*callback.subscription].node;
    case CallbackKind::service:
      return (*this)[*callback.service].node;
    case CallbackKind::client:
      return (*this)[*callback.client].node;
    case CallbackKind::waitable:
      return (*this)[*callback.waitable].node;
    case CallbackKind::event_source:
      return (*this)[*callback.event_source].node;
    case CallbackKind::unknown:
      break;
  }
  return std::nullopt;
}

std::string Objects::node_name(const Callback& callback) const {
  const auto node = node_of(callback);
  return node ? (*this)[*node].full_name() : "unknown";
}

bool Objects::is_left_out(const std::optional<NodeIndex>& node, TopicIndex topic) const {
  if (selection.is_everything()) return false;
  return !selection.has(node ? (*this)[*node].full_name() : "", (*this)[topic]);
}

bool Objects::is_left_out(const Callback& callback) const {
  if (selection.is_everything()) return false;
  const auto node = node_of(callback);
  const auto topic = topic_of(callback);
  // What nobody described was recorded.
  return node && !selection.has((*this)[*node].full_name(), topic ? (*this)[*topic] : "");
}

std::optional<TopicIndex> Objects::topic_of(const Callback& callback) const {
  switch (callback.kind) {
    case CallbackKind::subscription:
      return (*this)[*callback.subscription].topic;
    case CallbackKind::service:
      return (*this)[*callback.service].name;
    case CallbackKind::client:
      return (*this)[*callback.client].name;
    case CallbackKind::timer:
    case CallbackKind::waitable:
    case CallbackKind::event_source:
    case CallbackKind::unknown:
      break;
  }
  return std::nullopt;
}

}  // namespace takt::execution
