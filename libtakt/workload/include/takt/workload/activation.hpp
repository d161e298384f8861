#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "takt/model/model.hpp"

namespace takt::workload {

/// Identifies a message of a running model.
struct MessageId {
  /// The topic or service, as the plan names it; its text lives as long as the plan.
  std::string_view topic;
  /// The position in the model of the callback that made it, or `outside`.
  std::uint32_t source = 0;
  /// Counts the messages of one sender on one topic.
  std::uint64_t sequence = 0;

  /// The source of messages that come from outside the model.
  static constexpr std::uint32_t outside = 0xffffffff;

  friend auto operator<=>(const MessageId&, const MessageId&) = default;
};

/// The cause of a callback's activation.
struct Activation {
  /// The callback that activates it; none: a timer, or something outside the model.
  std::optional<model::CallbackIndex> source;
  /// None: a timer, or a trigger without a message.
  std::optional<MessageId> message;
};

/// A message that was sent, and the times right before and after that.
struct SentMessage {
  MessageId message;
  Instant begin;
  Instant end;
};

}  // namespace takt::workload
