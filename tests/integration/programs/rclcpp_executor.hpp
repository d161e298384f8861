#pragma once

#include <memory>
#include <string>

#include "rclcpp/experimental/executors/events_executor/events_executor.hpp"
#include "rclcpp/rclcpp.hpp"

/// An executor of rclcpp: single, multi (two threads) or events; null if the name is none of these.
inline std::unique_ptr<rclcpp::Executor> make_executor(const std::string& name) {
  if (name == "single") return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
  if (name == "multi") {
    return std::make_unique<rclcpp::executors::MultiThreadedExecutor>(rclcpp::ExecutorOptions(), 2);
  }
  if (name == "events") {
    return std::make_unique<rclcpp::experimental::executors::EventsExecutor>();
  }
  return nullptr;
}
