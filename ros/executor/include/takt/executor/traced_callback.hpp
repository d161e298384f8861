#pragma once

#include <rcl/subscription.h>
#include <tracetools/tracetools.h>

#include <functional>
#include <string>
#include <utility>

namespace takt::executor {

/// A callback that appears in traces as rclcpp's do: known by its address and a readable name, with
/// an event at the start and at the end of each of its instances.
template <typename... Arguments>
class TracedCallback {
 public:
  TracedCallback(std::string name, std::function<void(Arguments...)> function)
      : name_(std::move(name)), function_(std::move(function)) {}

  TracedCallback(const TracedCallback&) = delete;
  TracedCallback& operator=(const TracedCallback&) = delete;

  /// What the events of the trace call this callback.
  [[nodiscard]] const void* address() const { return this; }

  /// Names the callback in the trace, once its owner has been announced there.
  void announce() const {
    TRACETOOLS_TRACEPOINT(rclcpp_callback_register, address(), name_.c_str());
  }

  /// The same for the callback of a subscription, which an object of the program stands for.
  void announce(const rcl_subscription_t& subscription, const void* object) const {
    TRACETOOLS_TRACEPOINT(rclcpp_subscription_init, &subscription, object);
    TRACETOOLS_TRACEPOINT(rclcpp_subscription_callback_added, object, address());
    announce();
  }

  void operator()(Arguments... arguments) const {
    TRACETOOLS_TRACEPOINT(callback_start, address(), false);
    function_(std::forward<Arguments>(arguments)...);
    TRACETOOLS_TRACEPOINT(callback_end, address());
  }

  /// Leaves an instance in the trace that does nothing: of a message that activates nothing by
  /// itself, as where executors run the callback for each message.
  void pass_over() const {
    TRACETOOLS_TRACEPOINT(callback_start, address(), false);
    TRACETOOLS_TRACEPOINT(callback_end, address());
  }

 private:
  std::string name_;
  std::function<void(Arguments...)> function_;
};

}  // namespace takt::executor
