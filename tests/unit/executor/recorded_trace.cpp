#include "recorded_trace.hpp"

#include <tracetools/tracetools.h>

namespace takt::executor {
namespace {

thread_local RecordedTrace* recording = nullptr;

void add(const std::string& event) {
  if (recording != nullptr) recording->add(event);
}

std::string name(const void* address) {
  return recording == nullptr ? "" : recording->name(address);
}

void give_name(const void* address, const std::string& text) {
  if (recording != nullptr) recording->give_name(address, text);
}

}  // namespace

RecordedTrace::RecordedTrace() { recording = this; }
RecordedTrace::~RecordedTrace() { recording = nullptr; }

std::string RecordedTrace::name(const void* address) const {
  const auto found = names_.find(address);
  return found == names_.end() ? "?" : found->second;
}

}  // namespace takt::executor

// The functions of tracetools that rclcpp-level events call, and those of rcl that come in between.
extern "C" {

using takt::executor::add;
using takt::executor::give_name;
using takt::executor::name;

void ros_trace_rcl_publish(const void*, const void*) { add("rcl_publish"); }

void ros_trace_rclcpp_publish(const void* publisher, const void*) {
  add(publisher == nullptr ? "rclcpp_publish" : "rclcpp_publish with a handle");
}

void ros_trace_rcl_subscription_init(const void* handle, const void*, const void*,
                                     const char* topic, size_t) {
  give_name(handle, std::string("handle of ") + topic);
  add(std::string("rcl_subscription_init(") + topic + ")");
}

void ros_trace_rclcpp_subscription_init(const void* handle, const void* subscription) {
  give_name(subscription, "subscription");
  add("rclcpp_subscription_init(" + name(handle) + ")");
}

void ros_trace_rclcpp_subscription_callback_added(const void* subscription, const void* callback) {
  give_name(callback, "callback of " + name(subscription));
  add("rclcpp_subscription_callback_added(" + name(subscription) + ")");
}

void ros_trace_rcl_take(const void*) { add("rcl_take"); }
void ros_trace_rclcpp_take(const void*) { add("rclcpp_take"); }

void ros_trace_rcl_service_init(const void* handle, const void*, const void*, const char* service) {
  give_name(handle, std::string("handle of ") + service);
  add(std::string("rcl_service_init(") + service + ")");
}

void ros_trace_rclcpp_service_callback_added(const void* handle, const void* callback) {
  give_name(callback, "callback of " + name(handle));
  add("rclcpp_service_callback_added(" + name(handle) + ")");
}

void ros_trace_rcl_client_init(const void* handle, const void*, const void*, const char* service) {
  give_name(handle, std::string("client of ") + service);
  add(std::string("rcl_client_init(") + service + ")");
}

void ros_trace_rcl_timer_init(const void* handle, int64_t period) {
  give_name(handle, "timer");
  add("rcl_timer_init(" + std::to_string(period) + ")");
}

void ros_trace_rclcpp_timer_callback_added(const void* handle, const void* callback) {
  give_name(callback, "callback of " + name(handle));
  add("rclcpp_timer_callback_added(" + name(handle) + ")");
}

void ros_trace_rclcpp_timer_link_node(const void* handle, const void*) {
  add("rclcpp_timer_link_node(" + name(handle) + ")");
}

void ros_trace_rclcpp_callback_register(const void* callback, const char* symbol) {
  add("rclcpp_callback_register(" + name(callback) + ", " + symbol + ")");
  give_name(callback, symbol);
}

void ros_trace_callback_start(const void* callback, const bool) {
  add("callback_start(" + name(callback) + ")");
}

void ros_trace_callback_end(const void* callback) { add("callback_end(" + name(callback) + ")"); }

void ros_trace_rclcpp_executor_get_next_ready() { add("get_next_ready"); }

void ros_trace_rclcpp_executor_wait_for_work(const int64_t timeout) {
  add("wait_for_work(" + std::to_string(timeout) + ")");
}

void ros_trace_rclcpp_executor_execute(const void* handle) { add("execute(" + name(handle) + ")"); }

}  // extern "C"
