#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <rclcpp/rclcpp.hpp>
#include <stdexcept>
#include <string>
#include <takt_msgs/msg/packet.hpp>
#include <takt_msgs/srv/exchange.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "takt/rclcpp/executors.hpp"

namespace takt::test {

using takt_msgs::msg::Packet;
using takt_msgs::srv::Exchange;

/// A waitable that is ready as often as it is triggered, at once and on the triggering thread.
class Signal : public ::rclcpp::Waitable {
 public:
  explicit Signal(std::function<void(int)> callback) : callback_(std::move(callback)) {}

  void trigger(int part = 0) {
    const std::scoped_lock lock(mutex_);
    if (ready_) {
      ready_(1, part);
    } else {
      unwatched_.push_back(part);
    }
  }

  void set_on_ready_callback(std::function<void(std::size_t, int)> ready) override {
    const std::scoped_lock lock(mutex_);
    ready_ = std::move(ready);
    for (const int part : std::exchange(unwatched_, {})) ready_(1, part);
  }
  void clear_on_ready_callback() override {
    const std::scoped_lock lock(mutex_);
    ready_ = nullptr;
  }

  std::shared_ptr<void> take_data() override { return take_data_by_entity_id(0); }
  std::shared_ptr<void> take_data_by_entity_id(std::size_t part) override {
    return std::make_shared<int>(static_cast<int>(part));
  }
  void execute(const std::shared_ptr<void>& data) override {
    callback_(*std::static_pointer_cast<int>(data));
  }

  void add_to_wait_set(rcl_wait_set_t& /*wait_set*/) override {}
  bool is_ready(const rcl_wait_set_t& /*wait_set*/) override { return false; }

 private:
  std::function<void(int)> callback_;
  std::mutex mutex_;
  std::function<void(std::size_t, int)> ready_;
  /// What was triggered while nobody watched.
  std::vector<int> unwatched_;
};

/// Waits for something that is sure to come.
inline void wait_until(const std::function<bool()>& come) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!come()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("it never came");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// A test with a context of its own and a node, which has nothing that the test does not give it.
class RosTest : public testing::Test {
 protected:
  RosTest() { context_->init(0, nullptr); }
  ~RosTest() override { context_->shutdown("the test has ended"); }

  [[nodiscard]] std::shared_ptr<::rclcpp::Node> make_node(bool intra_process = false,
                                                          bool simulated_time = false) {
    return std::make_shared<::rclcpp::Node>(
        "takt_test_" + std::to_string(getpid()) + "_" + std::to_string(nodes_++),
        ::rclcpp::NodeOptions()
            .context(context_)
            .use_intra_process_comms(intra_process)
            .append_parameter_override("use_sim_time", simulated_time)
            .start_parameter_services(false)
            .start_parameter_event_publisher(false));
  }

  /// A name that no other program on this machine uses.
  static std::string unique(const std::string& name) {
    return "/takt_test_" + std::to_string(getpid()) + "/" + name;
  }

  [[nodiscard]] rclcpp::Options options(std::size_t threads = 1) const {
    rclcpp::Options options;
    options.threads = threads;
    options.base.context = context_;
    return options;
  }

  std::shared_ptr<Signal> add_signal(::rclcpp::Node& node, std::function<void(int)> callback,
                                     ::rclcpp::CallbackGroup::SharedPtr group = nullptr) {
    auto signal = std::make_shared<Signal>(std::move(callback));
    node.get_node_waitables_interface()->add_waitable(signal, std::move(group));
    return signal;
  }

  ::rclcpp::Context::SharedPtr context_ = std::make_shared<::rclcpp::Context>();
  std::shared_ptr<::rclcpp::Node> node_;
  int nodes_ = 0;
};

}  // namespace takt::test
