#include <chrono>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/register_node_macro.hpp>
#include <rosgraph_msgs/msg/clock.hpp>

namespace consumer {

/// A component that sends a number every 10 ms.
class Clock : public rclcpp::Node {
 public:
  explicit Clock(const rclcpp::NodeOptions& options) : Node("clock", options) {
    // Nothing is lost on a busy machine.
    publisher_ = create_publisher<rosgraph_msgs::msg::Clock>("numbers", 1000);
    timer_ = create_wall_timer(std::chrono::milliseconds(10), [this] {
      rosgraph_msgs::msg::Clock message;
      message.clock.sec = sent_++;
      publisher_->publish(message);
    });
  }

 private:
  rclcpp::Publisher<rosgraph_msgs::msg::Clock>::SharedPtr publisher_;
  rclcpp::TimerBase::SharedPtr timer_;
  int sent_ = 0;
};

}  // namespace consumer

RCLCPP_COMPONENTS_REGISTER_NODE(consumer::Clock)
