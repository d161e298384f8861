#include "robot.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "tracetools/tracetools.h"

namespace takt::benchmark {

namespace {

constexpr std::size_t relays = 9;
/// A run of the timer or of a relay: callback_start and callback_end with the processor's clock
/// beside each, three layers of a publication; a relay also takes a message.
constexpr std::uint64_t events_of_a_cycle = 7 + relays * 8;

/// Objects of ROS 2 are known by their addresses.
struct Handle {
  char here = 0;
};

struct Callback {
  Handle handle, publisher, rmw_publisher, subscription, rmw_subscription, object;
};

std::array<std::uint8_t, 24> gid(const void* object) {
  std::array<std::uint8_t, 24> bytes{};
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  for (std::size_t i = 0; i < sizeof address; ++i) {
    bytes[i] = static_cast<std::uint8_t>(address >> (8 * i));
  }
  return bytes;
}

class Robot {
 public:
  Robot() : callbacks_(relays + 1) {
    const std::string name = fmt::format("node_{}", getpid());
    ros_trace_rcl_init(&context_);
    ros_trace_rcl_node_init(&node_, &rmw_node_, name.c_str(), "/");
    ros_trace_rcl_timer_init(&timer_, 1'000'000);
    ros_trace_rclcpp_timer_callback_added(&timer_, &callbacks_[0].handle);
    ros_trace_rclcpp_timer_link_node(&timer_, &node_);
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      const Callback& own = callbacks_[i];
      const std::string topic = fmt::format("/{}/{}", name, i);
      ros_trace_rmw_publisher_init(&own.rmw_publisher, gid(&own.rmw_publisher).data());
      ros_trace_rcl_publisher_init(&own.publisher, &node_, &own.rmw_publisher, topic.c_str(), 10);
      if (i == 0) continue;
      const std::string input = fmt::format("/{}/{}", name, i - 1);
      ros_trace_rmw_subscription_init(&own.rmw_subscription, gid(&own.rmw_subscription).data());
      ros_trace_rcl_subscription_init(&own.subscription, &node_, &own.rmw_subscription,
                                      input.c_str(), 10);
      ros_trace_rclcpp_subscription_init(&own.subscription, &own.object);
      ros_trace_rclcpp_subscription_callback_added(&own.object, &own.handle);
      ros_trace_rclcpp_callback_register(&own.handle, "Relay::on_message()");
    }
  }

  void cycle() {
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      const Callback& own = callbacks_[i];
      if (i != 0) ros_trace_rmw_take(&own.rmw_subscription, &message_, stamp_, true);
      ros_trace_callback_start(&own.handle, false);
      ++stamp_;
      ros_trace_rclcpp_publish(&own.publisher, &message_);
      ros_trace_rcl_publish(&own.publisher, &message_);
      ros_trace_rmw_publish(&own.rmw_publisher, &message_, stamp_);
      ros_trace_callback_end(&own.handle);
    }
  }

 private:
  Handle context_, node_, rmw_node_, timer_, message_;
  std::vector<Callback> callbacks_;
  std::int64_t stamp_ = 0;
};

}  // namespace

void run_robot(std::uint64_t events_per_second, int seconds) {
  Robot robot;
  timespec next{};
  clock_gettime(CLOCK_MONOTONIC, &next);
  std::uint64_t sent = 0;
  for (int millisecond = 1; millisecond <= 1000 * seconds; ++millisecond) {
    const std::uint64_t due = events_per_second * static_cast<std::uint64_t>(millisecond) / 1000;
    for (; sent < due; sent += events_of_a_cycle) robot.cycle();
    next.tv_nsec += 1'000'000;
    if (next.tv_nsec >= 1'000'000'000) {
      next.tv_nsec -= 1'000'000'000;
      ++next.tv_sec;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
  }
}

}  // namespace takt::benchmark
