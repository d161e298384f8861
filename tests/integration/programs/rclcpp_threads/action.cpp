#include <memory>
#include <thread>

#include "programs.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_action/rclcpp_action.hpp"
#include "test_msgs/action/fibonacci.hpp"

namespace threads {
namespace {

using namespace std::chrono_literals;
using test_msgs::action::Fibonacci;

}  // namespace

void action(milliseconds time) {
  const auto arm = std::make_shared<rclcpp::Node>("arm");
  using Goal = std::shared_ptr<rclcpp_action::ServerGoalHandle<Fibonacci>>;
  const auto server = rclcpp_action::create_server<Fibonacci>(
      arm, "/move",
      [](const rclcpp_action::GoalUUID&, const std::shared_ptr<const Fibonacci::Goal>&) {
        return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
      },
      [](const Goal&) { return rclcpp_action::CancelResponse::ACCEPT; },
      [](const Goal& goal) {
        burn(5ms);
        goal->publish_feedback(std::make_shared<Fibonacci::Feedback>());
        goal->succeed(std::make_shared<Fibonacci::Result>());
      });
  const auto task = std::make_shared<rclcpp::Node>("task");
  const auto client = rclcpp_action::create_client<Fibonacci>(task, "/move");
  const auto timer = task->create_wall_timer(100ms, [&] {
    rclcpp_action::Client<Fibonacci>::SendGoalOptions options;
    options.result_callback = [](const auto&) { burn(1ms); };
    if (client->action_server_is_ready()) client->async_send_goal(Fibonacci::Goal(), options);
  });
  rclcpp::executors::SingleThreadedExecutor serving;
  rclcpp::executors::SingleThreadedExecutor asking;
  serving.add_node(arm);
  asking.add_node(task);
  std::thread serves([&] { serving.spin(); });
  std::thread asks([&] { asking.spin(); });
  std::this_thread::sleep_for(time);
  asking.cancel();
  asks.join();
  serving.cancel();
  serves.join();
}

}  // namespace threads
