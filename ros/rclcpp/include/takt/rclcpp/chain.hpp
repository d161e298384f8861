#pragma once

#include <optional>
#include <vector>

#include "takt/rclcpp/entity.hpp"
#include "takt/time/time.hpp"

namespace takt::rclcpp {

/// A processing chain: callbacks each of which activates the next.
struct Chain {
  std::vector<Entity> callbacks;
  /// From the activation of the first to the completion of the last; only deadline rules use it.
  /// None: the chain comes after all that have one.
  std::optional<Duration> deadline{};
};

/// Half-open [start, end) within a table's cycle, in which instances of a callback may start.
struct Slot {
  Duration start{};
  Duration end{};
  Entity callback;
};

}  // namespace takt::rclcpp
