#include <chrono>
#include <cstdio>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rosgraph_msgs/msg/clock.hpp>

#include "takt/rclcpp/executors.hpp"

static_assert(__cplusplus == 201703L, "packages of ROS 2 are compiled as C++17");

// A timer sends numbers, the second node doubles them, the third prints ten.
int main(int argc, char** argv) {
  using rosgraph_msgs::msg::Clock;
  rclcpp::init(argc, argv);
  rclcpp::ExecutorOptions options;
  takt::rclcpp::FixedPriorityExecutor executor(options);

  auto camera = std::make_shared<rclcpp::Node>("camera");
  auto detector = std::make_shared<rclcpp::Node>("detector");
  auto brake = std::make_shared<rclcpp::Node>("brake");
  auto image = camera->create_publisher<Clock>("image", 10);
  auto obstacle = detector->create_publisher<Clock>("obstacle", 10);
  int sent = 0;
  int printed = 0;
  auto timer = camera->create_wall_timer(std::chrono::milliseconds(5), [&] {
    Clock message;
    message.clock.sec = sent++;
    image->publish(message);
  });
  auto doubled = detector->create_subscription<Clock>("image", 10, [&](const Clock& message) {
    Clock twice;
    twice.clock.sec = 2 * message.clock.sec;
    obstacle->publish(twice);
  });
  auto seen = brake->create_subscription<Clock>("obstacle", 10, [&](const Clock& message) {
    std::printf("%d\n", message.clock.sec);
    if (++printed == 10) executor.cancel();
  });
  executor.set_priority(seen, 3);
  executor.set_priority(doubled, 2);
  executor.set_priority(timer, 1);
  executor.add_node(camera);
  executor.add_node(detector);
  executor.add_node(brake);
  executor.spin();
  rclcpp::shutdown();
}
