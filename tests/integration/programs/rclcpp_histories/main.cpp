// A pipeline of rclcpp nodes (nodes.hpp) whose messages carry their own history; what became of
// each is printed at the end, which comes when nothing has happened for a second.
//
//   rclcpp_histories EXECUTOR GROUPS WAY MESSAGES NODE...
//
// EXECUTOR: single, multi, events. GROUPS: exclusive, reentrant. WAY: middleware, intra.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "nodes.hpp"
#include "rclcpp/experimental/executors/events_executor/events_executor.hpp"
#include "rclcpp/rclcpp.hpp"
#include "telling.hpp"

namespace {

using namespace std::chrono_literals;

std::unique_ptr<rclcpp::Executor> make_executor(const std::string& name) {
  if (name == "single") {
    return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
  }
  if (name == "multi") {
    return std::make_unique<rclcpp::executors::MultiThreadedExecutor>(rclcpp::ExecutorOptions(), 3);
  }
  if (name == "events") {
    return std::make_unique<rclcpp::experimental::executors::EventsExecutor>();
  }
  std::fprintf(stderr, "rclcpp_histories: %s is no executor\n", name.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 5) {
    std::fprintf(stderr, "rclcpp_histories EXECUTOR GROUPS WAY MESSAGES NODE...\n");
    return 2;
  }
  rclcpp::init(argc, argv);
  {
    const histories::Settings settings{arguments[1] == "reentrant", arguments[2] == "intra",
                                       std::stoi(arguments[3])};
    const std::vector<std::string> names(arguments.begin() + 4, arguments.end());
    const auto executor = make_executor(arguments[0]);
    const auto nodes = histories::make_nodes(names, settings);
    for (const auto& node : nodes) {
      executor->add_node(node);
    }
    // Not a timer of the executor's: the trace is to hold the pipeline alone.
    std::thread watch([&] {
      for (std::int64_t last = 0; last == 0 || histories::monotonic() - last < std::nano::den ||
                                  histories::is_sending(nodes);) {
        std::this_thread::sleep_for(50ms);
        last = histories::last_told();
      }
      executor->cancel();
    });
    executor->spin();
    watch.join();
  }
  rclcpp::shutdown();
  histories::print_told();
  return 0;
}
