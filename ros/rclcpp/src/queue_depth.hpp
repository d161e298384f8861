#pragma once

#include <cstddef>
#include <rclcpp/qos.hpp>

#include "message_adapter.hpp"

namespace takt::rclcpp {

/// How many messages a subscription keeps.
inline std::size_t queue_depth(const ::rclcpp::QoS& quality) {
  return quality.history() == ::rclcpp::HistoryPolicy::KeepLast ? quality.depth() : unlimited;
}

}  // namespace takt::rclcpp
