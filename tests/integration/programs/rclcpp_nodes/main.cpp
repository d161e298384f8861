// The robot of a program of rclpy_nodes.py on an executor of rclcpp.
//
//   rclcpp_nodes EXECUTOR SECONDS [PLANTED]
//
// EXECUTOR: single, multi, events. PLANTED: suspension, execution. Standard input has the number of
// nodes and then a line for each callback: kind, node, topic, nanoseconds of its period (timers)
// and of its longest instance, and the topics to which it publishes. Prints for how many
// nanoseconds in all callbacks were there but did not run.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "rcl_interfaces/srv/list_parameters.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_executor.hpp"
#include "std_msgs/msg/header.hpp"

namespace {

using rcl_interfaces::srv::ListParameters;
using std_msgs::msg::Header;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr auto sleep_time = 30ms;
constexpr auto longer = 20ms;

nanoseconds clock_now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

void compute(nanoseconds time) {
  for (const auto end = clock_now(CLOCK_THREAD_CPUTIME_ID) + time;
       clock_now(CLOCK_THREAD_CPUTIME_ID) < end;) {
  }
}

/// Time for which callbacks had begun but did not run, without what they slept.
std::atomic<std::int64_t> taken = 0;

class Callback {
 public:
  Callback(const std::vector<rclcpp::Node::SharedPtr>& nodes, const std::string& line,
           std::string planted)
      : planted_(std::move(planted)) {
    std::istringstream words(line);
    std::string kind;
    std::string topic;
    std::size_t node = 0;
    std::int64_t period = 0;
    std::int64_t cost = 0;
    words >> kind >> node >> topic >> period >> cost;
    cost_ = nanoseconds(cost);
    rclcpp::Node& own = *nodes.at(node);
    for (std::string sent; words >> sent;) {
      publishers_.push_back(own.create_publisher<Header>(sent, 10));
    }
    if (kind == "timer") {
      entity_ = own.create_wall_timer(nanoseconds(period), [this] { run(); });
    } else if (kind == "subscription") {
      entity_ = own.create_subscription<Header>(topic, 10,
                                                [this](const Header::ConstSharedPtr&) { run(); });
    } else {
      entity_ = own.create_service<ListParameters>(
          topic, [this](const ListParameters::Request::SharedPtr&,
                        const ListParameters::Response::SharedPtr&) { run(); });
    }
  }

 private:
  void run() {
    const nanoseconds wall = clock_now(CLOCK_MONOTONIC);
    const nanoseconds processor = clock_now(CLOCK_THREAD_CPUTIME_ID);
    nanoseconds slept{};
    compute(std::chrono::duration_cast<nanoseconds>(cost_ * share_(dice_)));
    if (planted_ == "execution") compute(longer);
    if (planted_ == "suspension") {
      const nanoseconds begin = clock_now(CLOCK_MONOTONIC);
      std::this_thread::sleep_for(sleep_time);
      slept = clock_now(CLOCK_MONOTONIC) - begin;
    }
    for (const auto& publisher : publishers_) publisher->publish(Header());
    taken += (clock_now(CLOCK_MONOTONIC) - wall - (clock_now(CLOCK_THREAD_CPUTIME_ID) - processor) -
              slept)
                 .count();
  }

  std::string planted_;
  nanoseconds cost_{};
  std::mt19937 dice_{std::random_device{}()};
  std::uniform_real_distribution<double> share_{0.5, 1};
  std::vector<rclcpp::Publisher<Header>::SharedPtr> publishers_;
  std::shared_ptr<void> entity_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  rclcpp::init(argc, argv);
  {
    const auto executor = arguments.size() < 2 ? nullptr : make_executor(arguments[0]);
    std::string line;
    if (!executor || !std::getline(std::cin, line)) {
      std::fprintf(stderr, "rclcpp_nodes single|multi|events SECONDS [PLANTED] < PROGRAM\n");
      return 2;
    }
    std::vector<rclcpp::Node::SharedPtr> nodes;
    for (int number = 0, count = std::stoi(line); number < count; ++number) {
      nodes.push_back(std::make_shared<rclcpp::Node>(
          "robot_" + std::to_string(number),
          rclcpp::NodeOptions().start_parameter_services(false).start_parameter_event_publisher(
              false)));
    }
    std::vector<std::unique_ptr<Callback>> callbacks;
    while (std::getline(std::cin, line)) {
      // What is planted is planted in the first of them.
      const std::string planted = callbacks.empty() && arguments.size() > 2 ? arguments[2] : "";
      callbacks.push_back(std::make_unique<Callback>(nodes, line, planted));
    }
    for (const auto& node : nodes) executor->add_node(node);
    std::atomic<bool> ended = false;
    std::thread watch([&] {
      std::this_thread::sleep_for(std::chrono::duration<double>(std::stod(arguments[1])));
      ended = true;
      executor->cancel();
    });
    while (!ended) {
      try {
        executor->spin();
      } catch (const rclcpp::exceptions::RCLError&) {
        // Whoever called a service may have ended.
      }
    }
    watch.join();
  }
  rclcpp::shutdown();
  std::printf("%lld\n", static_cast<long long>(taken));
  return 0;
}
