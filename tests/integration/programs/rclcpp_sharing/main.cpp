// The programs of the tests of topics in shared memory, on stock rclcpp.
//
//   rclcpp_sharing talk NAME BYTES [QUALITY]       as sharing_talk.py
//   rclcpp_sharing listen EXECUTOR [DURABILITY]    as sharing_listen.py
//   rclcpp_sharing send BYTES COUNT                images at 30 Hz: when they were published
//   rclcpp_sharing hear EXECUTOR COUNT             when they were heard
//
// EXECUTOR: single, multi, events.

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "rclcpp/rclcpp.hpp"
#include "rclcpp_executor.hpp"
#include "sensor_msgs/msg/image.hpp"
#include "std_msgs/msg/string.hpp"
#include "timed.hpp"

namespace {

using sensor_msgs::msg::Image;
using std_msgs::msg::String;
using namespace std::chrono_literals;

/// As Python's zlib has it.
std::uint32_t checksum(const std::vector<std::uint8_t>& bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t index = 0; index < made.size(); ++index) {
      std::uint32_t value = index;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) * 0xedb88320u);
      made[index] = value;
    }
    return made;
  }();
  std::uint32_t sum = 0xffffffffu;
  for (const std::uint8_t byte : bytes) sum = (sum >> 8) ^ table[(sum ^ byte) & 0xff];
  return ~sum;
}

rclcpp::QoS qualities(const std::string& quality) {
  rclcpp::QoS made(1000);
  if (quality == "transient_local") made.transient_local();
  if (quality == "keep_all") made.keep_all();
  return made;
}

Image numbered(const std::string& sender, std::uint32_t number, std::size_t size) {
  Image image;
  image.data.resize(size / 4 * 4);
  for (std::size_t place = 0; place < image.data.size(); ++place) {
    image.data[place] = static_cast<std::uint8_t>(number >> (8 * (place % 4)));
  }
  image.header.frame_id = sender + " " + std::to_string(number);
  image.encoding = std::to_string(checksum(image.data));
  return image;
}

void talk(const std::string& name, std::size_t size, const std::string& quality) {
  const auto node = std::make_shared<rclcpp::Node>("talk_" + name);
  const auto texts = node->create_publisher<String>("text", qualities(quality));
  const auto images = node->create_publisher<Image>("image", qualities(quality));
  std::uint32_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string word;
    std::size_t count = 0;
    words >> word >> count;
    if (word == "matched") {
      while (texts->get_subscription_count() != count || images->get_subscription_count() != count)
        std::this_thread::sleep_for(10ms);
    } else {
      for (std::size_t sent = 0; sent < count; ++sent) {
        ++number;
        String text;
        text.data = name + " " + std::to_string(number);
        texts->publish(text);
        images->publish(numbered(name, number, size));
        std::this_thread::sleep_for(2ms);
      }
    }
    std::cout << line << std::endl;
  }
}

/// Callbacks of several threads print whole lines.
void print(const std::string& line) {
  static std::mutex one;
  const std::lock_guard lock(one);
  std::cout << line << std::endl;
}

void listen(rclcpp::Executor& executor, const std::string& quality) {
  const auto node = std::make_shared<rclcpp::Node>("listen");
  rclcpp::SubscriptionOptions texts;
  rclcpp::SubscriptionOptions images;
  // So that executors with several threads use them.
  texts.callback_group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  images.callback_group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto text = node->create_subscription<String>(
      "text", qualities(quality),
      [](const String::ConstSharedPtr& message) { print("text " + message->data + " whole"); },
      texts);
  const auto image = node->create_subscription<Image>(
      "image", qualities(quality),
      [](const Image::ConstSharedPtr& message) {
        const bool is_whole = std::to_string(checksum(message->data)) == message->encoding;
        print("image " + message->header.frame_id + (is_whole ? " whole" : " torn"));
      },
      images);
  executor.add_node(node);
  print("ready");
  executor.spin();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) {
    std::fprintf(stderr, "rclcpp_sharing talk|listen|send|hear …\n");
    return 2;
  }
  words.resize(4);
  rclcpp::init(argc, argv);
  if (words[0] == "talk") {
    talk(words[1], std::stoul(words[2]), words[3]);
  } else if (words[0] == "send") {
    send_timed(std::stoul(words[1]), std::stoi(words[2]));
  } else {
    const auto executor = make_executor(words[1]);
    if (!executor) return 2;
    if (words[0] == "listen") listen(*executor, words[2]);
    if (words[0] == "hear") hear_timed(*executor, std::stoi(words[2]));
  }
  rclcpp::shutdown();
  return 0;
}
