// The public headers, each for itself and before all others.
#include "takt/rclcpp/entity.hpp"
//
#include "takt/rclcpp/chain.hpp"
//
#include "takt/rclcpp/executor.hpp"
//
#include "takt/rclcpp/executors.hpp"
//
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rosgraph_msgs/msg/clock.hpp>
#include <string>
#include <vector>

// A program of three nodes, as a package of ROS 2 has it: written for rclcpp's executor, in C++17.
// Nothing but the name of the executor's class changes.

#if __cplusplus != 201703L
#error "this file is to be compiled as C++17"
#endif

namespace {

using rosgraph_msgs::msg::Clock;
using std::chrono_literals::operator""ms;

/// Room for all expiries that an executor makes up for after a busy machine has let it stand still.
constexpr std::size_t depth = 1000;

std::string topic(const char* name) {
  return "/takt_three_nodes_" + std::to_string(getpid()) + "/" + name;
}

/// A timer sends numbers.
class Camera : public rclcpp::Node {
 public:
  explicit Camera(const rclcpp::NodeOptions& options) : Node("camera", options) {
    image_ = create_publisher<Clock>(topic("image"), depth);
    timer_ = create_wall_timer(2ms, [this] {
      Clock image;
      image.clock.sec = sent_++;
      image_->publish(image);
    });
  }

 private:
  rclcpp::Publisher<Clock>::SharedPtr image_;
  rclcpp::TimerBase::SharedPtr timer_;
  int sent_ = 0;
};

/// Passes on their doubles.
class Detector : public rclcpp::Node {
 public:
  explicit Detector(const rclcpp::NodeOptions& options) : Node("detector", options) {
    obstacle_ = create_publisher<Clock>(topic("obstacle"), depth);
    image_ = create_subscription<Clock>(topic("image"), depth, [this](const Clock& image) {
      Clock obstacle;
      obstacle.clock.sec = 2 * image.clock.sec;
      obstacle_->publish(obstacle);
    });
  }

 private:
  rclcpp::Publisher<Clock>::SharedPtr obstacle_;
  rclcpp::Subscription<Clock>::SharedPtr image_;
};

/// Ends the program when it has enough.
class Brake : public rclcpp::Node {
 public:
  Brake(const rclcpp::NodeOptions& options, rclcpp::Executor& executor) : Node("brake", options) {
    obstacle_ = create_subscription<Clock>(topic("obstacle"), depth,
                                           [this, &executor](const Clock& obstacle) {
                                             seen.push_back(obstacle.clock.sec);
                                             if (seen.size() == 20) executor.cancel();
                                           });
  }

  std::vector<int> seen;

 private:
  rclcpp::Subscription<Clock>::SharedPtr obstacle_;
};

template <typename ExecutorType>
class ThreeNodes : public testing::Test {};

using Executors =
    testing::Types<rclcpp::executors::SingleThreadedExecutor, takt::rclcpp::EventsExecutor,
                   takt::rclcpp::FixedPriorityExecutor, takt::rclcpp::RateMonotonicExecutor,
                   takt::rclcpp::EdfExecutor, takt::rclcpp::ChainEdfExecutor,
                   takt::rclcpp::ChainPriorityExecutor, takt::rclcpp::GraphAwareExecutor,
                   takt::rclcpp::GraphAwareEdfExecutor>;
TYPED_TEST_SUITE(ThreeNodes, Executors);

TYPED_TEST(ThreeNodes, RunUnderItWithoutAnotherChange) {
  auto context = std::make_shared<rclcpp::Context>();
  context->init(0, nullptr);
  const auto nodes = rclcpp::NodeOptions().context(context);
  rclcpp::ExecutorOptions options;
  options.context = context;

  TypeParam executor(options);
  auto camera = std::make_shared<Camera>(nodes);
  auto detector = std::make_shared<Detector>(nodes);
  auto brake = std::make_shared<Brake>(nodes, executor);
  executor.add_node(camera);
  executor.add_node(detector);
  executor.add_node(brake);
  executor.spin();

  ASSERT_GE(brake->seen.size(), 20U);
  for (std::size_t i = 1; i < brake->seen.size(); ++i) {
    EXPECT_EQ(brake->seen[i], brake->seen[i - 1] + 2);
  }
  context->shutdown("the test is over");
}

TYPED_TEST(ThreeNodes, AreConstructedWithoutOptionsToo) {
  const bool was_up = rclcpp::ok();
  if (!was_up) rclcpp::init(0, nullptr);
  {
    TypeParam executor;
    EXPECT_FALSE(executor.is_spinning());
  }
  if (!was_up) rclcpp::shutdown();
}

}  // namespace
