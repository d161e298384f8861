#pragma once

#include <cstdint>
#include <optional>

#include "takt/model/model.hpp"

namespace takt::model {

/// Any `instances` consecutive instances that could send along an edge send `messages` messages:
/// 1 of 5 for a timer that calls a service every fifth time. The simulator and `takt run` send that
/// many; bounds count a message of every instance.
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

/// The share of the instances that send along an edge. None if every instance sends; also if the
/// edge names only one of the numbers, or as many messages as instances.
[[nodiscard]] std::optional<MessageShare> message_share(const Edge& edge);
void set_message_share(Edge& edge, const std::optional<MessageShare>& share);

}  // namespace takt::model
