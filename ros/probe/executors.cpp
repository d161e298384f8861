#include "rclcpp/executors.hpp"

#include <fmt/core.h>

#include "probe.hpp"
#include "rclcpp/experimental/executors/events_executor/events_executor.hpp"

namespace takt::probe {

Executors stock() {
  return {
      [] { return std::make_shared<rclcpp::executors::SingleThreadedExecutor>(); },
      [](std::size_t threads) {
        return std::make_shared<rclcpp::executors::MultiThreadedExecutor>(rclcpp::ExecutorOptions(),
                                                                          threads);
      },
      [](Queue::UniquePtr queue, bool timer_thread) {
        return std::make_shared<rclcpp::experimental::executors::EventsExecutor>(std::move(queue),
                                                                                 timer_thread);
      },
  };
}

void print(const Executors& executors) {
  fmt::print("{{{},", windows(executors));
  fmt::print(" {},", threads(executors));
  fmt::print(" {}}}\n", events(executors));
}

}  // namespace takt::probe
