// running_nodes.py on an executor of stock rclcpp: the same robot, the same lines, the same truth.
//
//   rclcpp_running PREFIX EXECUTOR TRUTH PERIOD
//
// EXECUTOR: single, multi, events.

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rcl_interfaces/srv/list_parameters.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_executor.hpp"
#include "std_msgs/msg/string.hpp"

namespace {

using rcl_interfaces::srv::ListParameters;
using std_msgs::msg::String;
using namespace std::chrono_literals;
using Owners = std::map<std::string, std::string>;
using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>;

constexpr std::size_t count = 5;
constexpr std::array<std::chrono::milliseconds, count> costs{4ms, 12ms, 6ms, 18ms, 8ms};

std::int64_t now() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

void work(std::chrono::nanoseconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time;
       std::chrono::steady_clock::now() < end;) {
  }
}

/// What these leave behind is not to be mistaken for what is there.
void leave_traces(const std::string& prefix) {
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::vector<rclcpp::Node::SharedPtr> gone;
    std::vector<std::shared_ptr<void>> made;
    for (const char* name : {"node_0", "node_1"}) {
      gone.push_back(std::make_shared<rclcpp::Node>(name, prefix + "/gone"));
    }
    for (const auto& node : gone) {
      for (int topic = 0; topic < 4; ++topic) {
        const std::string number = std::to_string(topic);
        made.push_back(node->create_publisher<String>(prefix + "/old_" + number, 3));
        made.push_back(node->create_subscription<String>(prefix + "/t" + number, 3,
                                                         [](const String::ConstSharedPtr&) {}));
      }
    }
  }
}

class Robot {
 public:
  Robot(const std::string& prefix, std::chrono::duration<double> period) {
    std::string name_space = prefix;
    for (std::size_t node = 0; node < count; ++node) {
      nodes_.push_back(std::make_shared<rclcpp::Node>("n", name_space));
      name_space += "/n";  // the full name of each is the beginning of the next one's
    }
    std::size_t last = 0;
    for (std::size_t step = 0; step < count; ++step) add(prefix, last = 3 * step % count);
    const auto first = nodes_[last]->create_publisher<String>(prefix + "/t0", 7);
    publishers_[prefix + "/t0"] = nodes_[last]->get_fully_qualified_name();
    kept_.push_back(nodes_[last]->create_wall_timer(period, [this, first] {
      const std::int64_t begin = now();
      work(5ms);
      String message;
      message.data = "go";
      first->publish(message);
      log("timer", begin);
    }));
  }

  void add_to(rclcpp::Executor& executor) const {
    for (const auto& node : nodes_) executor.add_node(node);
  }

  void write(const std::string& path) const {
    std::ofstream text(path);
    text << "{\"nodes\": [";
    for (const auto& node : nodes_) {
      text << (node == nodes_.front() ? "\"" : ", \"") << node->get_fully_qualified_name() << '"';
    }
    text << "], \"subscriptions\": " << object(subscriptions_)
         << ", \"publishers\": " << object(publishers_) << ", \"services\": " << object(services_)
         << ", \"clients\": " << object(clients_) << ", \"runs\": {";
    const char* separator = "";
    for (const auto& [name, runs] : runs_) {
      text << separator << '"' << name << "\": [";
      separator = "";
      for (const auto& [begin, end] : runs) {
        text << separator << '[' << begin << ", " << end << ']';
        separator = ", ";
      }
      text << ']';
      separator = ", ";
    }
    text << "}}\n";
  }

 private:
  static std::string object(const Owners& owners) {
    std::ostringstream text;
    text << '{';
    const char* separator = "";
    for (const auto& [name, owner] : owners) {
      text << separator << '"' << name << "\": \"" << owner << '"';
      separator = ", ";
    }
    text << '}';
    return text.str();
  }

  /// What node `number` of the chain has; not in the order of the nodes.
  void add(const std::string& prefix, std::size_t number) {
    rclcpp::Node& own = *nodes_[number];
    const std::string name = own.get_fully_qualified_name();
    const std::string text = std::to_string(number);
    const std::string source = prefix + "/t" + text;
    const std::string target = prefix + "/t" + std::to_string(number + 1);
    const auto publisher = own.create_publisher<String>(target, 7);
    runs_[source] = {};
    kept_.push_back(own.create_subscription<String>(
        source, 7, [this, source, publisher, number](const String::ConstSharedPtr& message) {
          const std::int64_t begin = now();
          work(costs[number]);
          publisher->publish(*message);
          log(source, begin);
          if (number == count - 1) std::cout << "chain" << std::endl;
        }));
    subscriptions_[source] = publishers_[target] = name;
    // The name of a service may begin with another node's.
    const std::string service =
        nodes_[(number + 1) % count]->get_fully_qualified_name() + ("/steer_" + text);
    kept_.push_back(own.create_service<ListParameters>(
        service, [](const ListParameters::Request::SharedPtr&,
                    const ListParameters::Response::SharedPtr&) {}));
    services_[service] = name;
    const std::string client =
        nodes_[(number + 2) % count]->get_fully_qualified_name() + ("/engine_" + text);
    kept_.push_back(own.create_client<ListParameters>(client));
    clients_[client] = name;
  }

  void log(const std::string& name, std::int64_t begin) {
    const std::lock_guard lock(mutex_);
    runs_[name].emplace_back(begin, now());
  }

  std::mutex mutex_;
  std::vector<rclcpp::Node::SharedPtr> nodes_;
  std::vector<std::shared_ptr<void>> kept_;
  Owners subscriptions_;
  Owners publishers_;
  Owners services_;
  Owners clients_;
  std::map<std::string, Runs> runs_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  rclcpp::init(argc, argv);
  {
    const auto executor = arguments.size() < 4 ? nullptr : make_executor(arguments[1]);
    if (!executor) {
      std::fprintf(stderr, "rclcpp_running PREFIX single|multi|events TRUTH PERIOD\n");
      return 2;
    }
    const std::string prefix = "/" + arguments[0];
    leave_traces(prefix);
    Robot robot(prefix, std::chrono::duration<double>(std::stod(arguments[3])));
    robot.add_to(*executor);
    std::thread watch([&] {
      std::cout << "ready" << std::endl;
      while (std::cin.get() != std::char_traits<char>::eof()) {
      }
      executor->cancel();
    });
    executor->spin();
    watch.join();
    robot.write(arguments[2]);
  }
  rclcpp::shutdown();
  return 0;
}
