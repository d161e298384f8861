#include <chrono>
#include <cstdio>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rosgraph_msgs/msg/clock.hpp>

#include "takt/rclcpp/executors.hpp"

static_assert(__cplusplus == 201703L, "packages of ROS 2 are compiled as C++17");

// A timer sends numbers, the second node doubles them, the third prints ten. EXECUTOR is the name
// of the executor's class.
int main(int argc, char** argv) {
  using rosgraph_msgs::msg::Clock;
  // Room for all expiries that an executor makes up for after a busy machine has let it stand
  // still.
  constexpr std::size_t depth = 1000;
  rclcpp::init(argc, argv);
  rclcpp::ExecutorOptions options;
  EXECUTOR executor(options);

  auto camera = std::make_shared<rclcpp::Node>("camera");
  auto detector = std::make_shared<rclcpp::Node>("detector");
  auto brake = std::make_shared<rclcpp::Node>("brake");
  auto image = camera->create_publisher<Clock>("image", depth);
  auto obstacle = detector->create_publisher<Clock>("obstacle", depth);
  int sent = 0;
  int printed = 0;
  auto timer = camera->create_wall_timer(std::chrono::milliseconds(5), [&] {
    Clock message;
    message.clock.sec = sent++;
    image->publish(message);
  });
  auto doubled = detector->create_subscription<Clock>("image", depth, [&](const Clock& message) {
    Clock twice;
    twice.clock.sec = 2 * message.clock.sec;
    obstacle->publish(twice);
  });
  auto seen = brake->create_subscription<Clock>("obstacle", depth, [&](const Clock& message) {
    std::printf("%d\n", message.clock.sec);
    if (++printed == 10) executor.cancel();
  });
  executor.add_node(camera);
  executor.add_node(detector);
  executor.add_node(brake);
  executor.spin();
  rclcpp::shutdown();
}
