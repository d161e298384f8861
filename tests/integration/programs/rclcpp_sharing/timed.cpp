#include "timed.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <thread>

#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/image.hpp"

using namespace std::chrono_literals;
using sensor_msgs::msg::Image;

namespace {

std::int64_t now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void send_timed(std::size_t size, int count) {
  const auto node = std::make_shared<rclcpp::Node>("talk");
  const auto publisher = node->create_publisher<Image>("image", 10);
  while (publisher->get_subscription_count() < 1) std::this_thread::sleep_for(10ms);
  Image image;
  image.data.resize(size);
  std::ostringstream published;
  for (std::int64_t number = 0; number < count; ++number) {
    std::memcpy(image.data.data(), &number, sizeof number);
    std::this_thread::sleep_for(33'333us);
    published << (number == 0 ? "[" : ", ") << now();
    publisher->publish(image);
  }
  std::this_thread::sleep_for(1s);
  std::printf("%s]\n", published.str().c_str());
}

void hear_timed(rclcpp::Executor& executor, int count) {
  const auto node = std::make_shared<rclcpp::Node>("listen");
  std::map<std::int64_t, std::int64_t> heard;
  const auto subscription =
      node->create_subscription<Image>("image", 10, [&](const Image::ConstSharedPtr& image) {
        const std::int64_t time = now();
        std::int64_t number = 0;
        std::memcpy(&number, image->data.data(), sizeof number);
        heard[number] = time;
        if (number == count - 1) executor.cancel();
      });
  executor.add_node(node);
  executor.spin();
  std::ostringstream text;
  for (const auto& [number, time] : heard) {
    text << (text.tellp() == 0 ? "{" : ", ") << '"' << number << "\": " << time;
  }
  std::printf("%s}\n", text.str().c_str());
}
