#pragma once

#include <optional>
#include <string>

#include "takt/rclcpp/entity.hpp"
#include "takt/scheduling/policy.hpp"
#include "takt/time/time.hpp"

namespace takt::rclcpp {

/// A callback of an executor. A subscription is one, whether its messages come through the
/// middleware or within the process.
struct Callback {
  Entity entity;
  scheduling::Category category = scheduling::Category::timer;
  /// The node's fully qualified name; empty: its group was added without its node.
  std::string node{};
  /// Topic of a subscription, name of a service or client; fully qualified.
  std::string topic{};
  /// Only timers have one.
  std::optional<Duration> period{};
};

}  // namespace takt::rclcpp
