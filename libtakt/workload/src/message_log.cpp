#include "takt/workload/message_log.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "takt/linux/thread_clock.hpp"

namespace takt::workload {

using linux_os::monotonic_now;
using model::CallbackIndex;
using model::CallbackKind;

MessageLog::MessageLog(const model::Model& model) : model_(model) {
  for (const model::Edge& edge : model.edges) {
    if (model[edge.to].kind == CallbackKind::timer) read_by_[edge.to].push_back(edge.from);
  }
}

void MessageLog::complete(CallbackIndex callback, const MessageId& message,
                          const std::vector<MessageId>& set) {
  const std::scoped_lock lock(mutex_);
  sets_[{callback, message}] = set;
}

void MessageLog::keep(CallbackIndex callback, const MessageId& message) {
  const Instant now = monotonic_now();
  const std::scoped_lock lock(mutex_);
  newest_[callback][message.topic] = message;
  entries_.push_back({callback, message, now, now, {}, {}});
}

MessageLog::Entry MessageLog::begin(CallbackIndex callback, const Activation& activation) {
  Entry entry{callback, activation.message, monotonic_now(), {}, {}, {}};
  const std::scoped_lock lock(mutex_);
  if (activation.message) {
    if (const auto set = sets_.extract({callback, *activation.message})) {
      for (const MessageId& message : set.mapped()) entry.used.push_back({callback, message});
    }
  }
  if (const auto read = read_by_.find(callback); read != read_by_.end()) {
    for (const CallbackIndex other : read->second) {
      for (const auto& [topic, message] : newest_[other]) entry.used.push_back({other, message});
    }
  }
  return entry;
}

void MessageLog::end(Entry entry) {
  entry.end = monotonic_now();
  const std::scoped_lock lock(mutex_);
  if (entry.received) newest_[*entry.callback][entry.received->topic] = *entry.received;
  entries_.push_back(std::move(entry));
}

void MessageLog::send_from_outside(const SentMessage& sent) {
  const std::scoped_lock lock(mutex_);
  entries_.push_back({{}, {}, sent.begin, sent.end, {}, {sent}});
}

nlohmann::json MessageLog::to_json() const {
  using nlohmann::json;
  const auto id = [this](std::size_t callback) {
    return callback < model_.callbacks.size() ? json(model_.callbacks[callback].id) : json();
  };
  const auto message = [&](const MessageId& one) {
    return json::array({one.topic, id(one.source), one.sequence});
  };
  const auto time = [](Instant instant) { return instant.time_since_epoch().count(); };
  const std::scoped_lock lock(mutex_);
  json entries = json::array();
  for (const Entry& entry : entries_) {
    json used = json::array();
    for (const auto& [callback, one] : entry.used) {
      used.push_back({{"callback", id(callback.value())}, {"message", message(one)}});
    }
    json sent = json::array();
    for (const auto& [one, begin, end] : entry.sent) {
      sent.push_back({{"message", message(one)}, {"begin", time(begin)}, {"end", time(end)}});
    }
    entries.push_back({{"callback", entry.callback ? id(entry.callback->value()) : json()},
                       {"begin", time(entry.begin)},
                       {"end", time(entry.end)},
                       {"received", entry.received ? message(*entry.received) : json()},
                       {"used", std::move(used)},
                       {"sent", std::move(sent)}});
  }
  return entries;
}

}  // namespace takt::workload
