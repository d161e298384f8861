#include <composition_interfaces/srv/load_node.hpp>
#include <cstdio>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rosgraph_msgs/msg/clock.hpp>

// Has /ComponentManager load the clock, prints the node's name, then ten of its numbers.
int main(int argc, char** argv) {
  using composition_interfaces::srv::LoadNode;
  rclcpp::init(argc, argv);
  auto node = std::make_shared<rclcpp::Node>("load_and_listen");
  auto client = node->create_client<LoadNode>("/ComponentManager/_container/load_node");
  client->wait_for_service();
  auto request = std::make_shared<LoadNode::Request>();
  request->package_name = "consumer";
  request->plugin_name = "consumer::Clock";
  auto response = client->async_send_request(request);
  rclcpp::spin_until_future_complete(node, response);
  const auto loaded = response.get();
  std::printf("%s\n",
              loaded->success ? loaded->full_node_name.c_str() : loaded->error_message.c_str());

  int heard = 0;
  auto numbers = node->create_subscription<rosgraph_msgs::msg::Clock>(
      "numbers", 1000, [&](const rosgraph_msgs::msg::Clock& message) {
        std::printf("%d\n", message.clock.sec);
        if (++heard == 10) rclcpp::shutdown();
      });
  rclcpp::spin(node);
}
