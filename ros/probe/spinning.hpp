#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "rclcpp/rclcpp.hpp"

namespace takt::probe {

/// Waits for the condition; returns whether it came true within the time.
template <typename Condition>
bool within(std::chrono::nanoseconds time, const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

/// A node on an executor that spins in a thread, and one that is on none.
class Spinning {
 public:
  Spinning(std::shared_ptr<rclcpp::Executor> executor, const std::string& name)
      : executor_(std::move(executor)), node(make_node(name)), world(make_node(name + "_world")) {}
  ~Spinning() { stop(); }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

  void start() {
    executor_->add_node(node);
    thread_ = std::thread([this] { executor_->spin(); });
    within(std::chrono::seconds(3), [this] { return executor_->is_spinning(); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    executor_->cancel();
    thread_.join();
  }

 private:
  static rclcpp::Node::SharedPtr make_node(const std::string& name) {
    return std::make_shared<rclcpp::Node>(
        name, rclcpp::NodeOptions().start_parameter_services(false).start_parameter_event_publisher(
                  false));
  }

  std::shared_ptr<rclcpp::Executor> executor_;
  std::thread thread_;

 public:
  const rclcpp::Node::SharedPtr node;
  const rclcpp::Node::SharedPtr world;
};

}  // namespace takt::probe
