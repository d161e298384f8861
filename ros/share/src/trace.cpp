#include "trace.hpp"

#include <atomic>
#include <utility>

#include "next_function.hpp"

// Functions of ROS 2's tracing library that the middleware calls, with its parameters
// (tracetools/tracetools.h), and the same under names that no other library stands before: their
// addresses are those of this library's own.
extern "C" {

using PublishEvent = void(const void* publisher, const void* message, std::int64_t timestamp);
using TakeEvent = void(const void* subscription, const void* message, std::int64_t timestamp,
                       bool taken);

__attribute__((visibility("default"))) PublishEvent ros_trace_rmw_publish;
__attribute__((visibility("default"))) TakeEvent ros_trace_rmw_take;
__attribute__((visibility("hidden"), alias("ros_trace_rmw_publish"))) PublishEvent own_rmw_publish;
__attribute__((visibility("hidden"), alias("ros_trace_rmw_take"))) TakeEvent own_rmw_take;

}  // extern "C"

namespace takt::share {

namespace {

thread_local constinit StampListener* listener __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local constinit bool takes_are_quiet __attribute__((tls_model("initial-exec"))) = false;
std::atomic<bool> are_stamps_told = false;

void write_publish(const void* publisher, const void* message, std::int64_t stamp) {
  static auto* const write = reinterpret_cast<PublishEvent*>(tracetools::next_function(
      "ros_trace_rmw_publish", reinterpret_cast<const void*>(&own_rmw_publish)));
  if (write != nullptr) write(publisher, message, stamp);
}

void write_take(const void* subscription, const void* message, std::int64_t stamp, bool taken) {
  static auto* const write = reinterpret_cast<TakeEvent*>(tracetools::next_function(
      "ros_trace_rmw_take", reinterpret_cast<const void*>(&own_rmw_take)));
  if (write != nullptr) write(subscription, message, stamp, taken);
}

/// Only Takt's tracing library has this event.
void write_way(const void* subscription, std::int64_t stamp) {
  using Function = void(const void*, std::int64_t);
  static auto* const write =
      reinterpret_cast<Function*>(tracetools::next_function("takt_trace_share_take", nullptr));
  if (write != nullptr) write(subscription, stamp);
}

}  // namespace

StampListener::StampListener(const rmw_publisher_t* publisher)
    : publisher_(publisher), outer_(std::exchange(listener, this)) {}

StampListener::~StampListener() { listener = outer_; }

bool stamps_are_told() { return are_stamps_told.load(std::memory_order_relaxed); }

QuietTakes::QuietTakes() { takes_are_quiet = true; }

QuietTakes::~QuietTakes() { takes_are_quiet = false; }

void trace_publish(const rmw_publisher_t* publisher, const void* message, std::int64_t stamp) {
  write_publish(publisher, message, stamp);
}

void trace_take(const rmw_subscription_t* subscription, const void* message, std::int64_t stamp,
                bool is_by_memory) {
  if (is_by_memory) write_way(subscription, stamp);
  write_take(subscription, message, stamp, true);
}

}  // namespace takt::share

extern "C" {

void ros_trace_rmw_publish(const void* publisher, const void* message, std::int64_t timestamp) {
  takt::share::write_publish(publisher, message, timestamp);
  takt::share::are_stamps_told.store(true, std::memory_order_relaxed);
  auto* const heard = takt::share::listener;
  if (heard != nullptr && heard->publisher() == publisher) heard->on_stamp(timestamp);
}

void ros_trace_rmw_take(const void* subscription, const void* message, std::int64_t timestamp,
                        bool taken) {
  if (!takt::share::takes_are_quiet) {
    takt::share::write_take(subscription, message, timestamp, taken);
  }
}

}  // extern "C"
