#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <takt_msgs/msg/packet.hpp>
#include <takt_msgs/srv/exchange.hpp>
#include <thread>

#include "takt/executor/context.hpp"
#include "takt/executor/node.hpp"

namespace takt::executor {

using takt_msgs::msg::Packet;
using takt_msgs::srv::Exchange;

/// A name that no other program on this machine uses.
inline std::string unique(const std::string& name) {
  return "/takt_test_" + std::to_string(getpid()) + "/" + name;
}

/// The value, or the end of the test with what was wrong.
template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

inline void must(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message);
}

/// Waits for something that is sure to come soon.
inline void wait_until(const std::function<bool()>& come) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!come()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("it never came");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// A test with a node.
class RosTest : public testing::Test {
 protected:
  std::shared_ptr<Context> context_ = must(Context::create());
  std::shared_ptr<Node> node_ = must(Node::create(context_, unique("node")));
};

}  // namespace takt::executor
