#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/workload/activation.hpp"

namespace takt::workload {

/// Records what the nodes of a process know of each message that they handled and sent. This is the
/// truth, with which the interpretation of a trace is compared. All functions may be called by any
/// thread.
class MessageLog {
 public:
  /// A message that an instance had when it began, beside the message that activated it.
  struct Used {
    /// The callback to which the message came.
    model::CallbackIndex callback;
    MessageId message;
  };

  struct Entry {
    /// None: something outside the model.
    std::optional<model::CallbackIndex> callback;
    std::optional<MessageId> received;
    Instant begin;
    Instant end;
    std::vector<Used> used;
    std::vector<SentMessage> sent;
  };

  /// `model` must outlive it.
  explicit MessageLog(const model::Model& model);

  /// A message completed the set of a join: the instance that handles the message will have this
  /// set.
  void complete(model::CallbackIndex callback, const MessageId& message,
                const std::vector<MessageId>& set);
  /// A message came to a callback that keeps it for later.
  void keep(model::CallbackIndex callback, const MessageId& message);
  /// An instance begins: its entry, for end().
  [[nodiscard]] Entry begin(model::CallbackIndex callback, const Activation& activation);
  /// The instance has sent everything. Timers can read the message that it handled from now on.
  void end(Entry entry);
  /// Something outside the model sent a message.
  void send_from_outside(const SentMessage& sent);

  /// A JSON array of the entries: `callback` (its id, or null), `begin`, `end`, `received` (a
  /// message, or null), `used` and `sent`. A message is [topic, source, sequence], where the source
  /// is a callback's id, or null.
  [[nodiscard]] nlohmann::json to_json() const;

 private:
  using Callback = model::CallbackIndex;

  const model::Model& model_;
  /// The callbacks whose messages a timer reads, by timer.
  std::map<Callback, std::vector<Callback>> read_by_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::map<std::pair<Callback, MessageId>, std::vector<MessageId>> sets_;
  /// The newest message that each callback has handled, by topic.
  std::map<Callback, std::map<std::string_view, MessageId>> newest_;
};

}  // namespace takt::workload
