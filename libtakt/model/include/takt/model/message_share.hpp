#pragma once

#include <cstdint>
#include <optional>

#include "takt/model/model.hpp"

namespace takt::model {

/// So many `messages` are sent by any `instances` consecutive instances that might send along an
/// edge: one of five by a timer that calls a service every fifth time. The simulator and `takt run`
/// send that many; bounds count a message of every instance.
struct MessageShare {
  std::int64_t messages = 1;   // 1 … instances
  std::int64_t instances = 1;  // at most 2^31

  /// Whether the instance with this number, from 0, sends: the first one does, the others as evenly
  /// as they can.
  [[nodiscard]] bool sends(std::uint64_t number) const {
    const auto all = static_cast<std::uint64_t>(instances);
    const auto some = static_cast<std::uint64_t>(messages);
    return number % all * some % all < some;
  }
};

/// Whether an edge has a share of messages. None: every instance sends; also where the edge names
/// only one of the numbers, or as many messages as instances.
[[nodiscard]] std::optional<MessageShare> message_share(const Edge& edge);
void set_message_share(Edge& edge, const std::optional<MessageShare>& share);

}  // namespace takt::model
