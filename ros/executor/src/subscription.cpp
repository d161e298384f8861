#include "takt/executor/subscription.hpp"

#include <rcl/error_handling.h>

#include "takt/base/try.hpp"
#include "takt/executor/quality_of_service.hpp"
#include "takt/executor/rcl_result.hpp"

namespace takt::executor {

Result<void> SubscriptionBase::init(const rosidl_message_type_support_t* type,
                                    const std::string& topic, std::size_t depth,
                                    const void* callback) {
  rcl_subscription_options_t options = rcl_subscription_get_default_options();
  options.qos = keep_last(depth);
  const Result<void> result =
      check(rcl_subscription_init(&subscription_, node_->handle(), type, topic.c_str(), &options),
            fmt::format("subscribe to {}", topic));
  if (rcl_subscription_options_fini(&options) != RCL_RET_OK) rcl_reset_error();
  if (!result) return result;
  TRACETOOLS_TRACEPOINT(rclcpp_subscription_init, &subscription_, this);
  TRACETOOLS_TRACEPOINT(rclcpp_subscription_callback_added, this, callback);
  return {};
}

SubscriptionBase::~SubscriptionBase() {
  if (rcl_subscription_fini(&subscription_, node_->handle()) != RCL_RET_OK) rcl_reset_error();
}

Result<void> SubscriptionBase::add_to(rcl_wait_set_t& wait_set) {
  return check(rcl_wait_set_add_subscription(&wait_set, &subscription_, &wait_set_index_),
               "wait for a subscription");
}

bool SubscriptionBase::is_ready_in(const rcl_wait_set_t& wait_set) const {
  return wait_set.subscriptions[wait_set_index_] != nullptr;
}

Result<bool> SubscriptionBase::take() {
  rmw_message_info_t info{};
  const rcl_ret_t code = rcl_take(&subscription_, message(), &info, nullptr);
  TRACETOOLS_TRACEPOINT(rclcpp_take, message());
  if (code == RCL_RET_SUBSCRIPTION_TAKE_FAILED) {
    rcl_reset_error();
    return false;
  }
  if (code == RCL_RET_OK) return true;
  const Result<void> failed = check(
      code, fmt::format("take a message of {}", rcl_subscription_get_topic_name(&subscription_)));
  return tl::unexpected(failed.error());
}

Result<void> SubscriptionBase::execute() {
  TRACETOOLS_TRACEPOINT(rclcpp_executor_execute, &subscription_);
  const bool taken = TAKT_TRY(take());
  if (taken) {
    choose_taken();
    run_callback(0);
  }
  return {};
}

Result<void> SubscriptionBase::run(std::size_t worker) {
  TRACETOOLS_TRACEPOINT(rclcpp_executor_execute, &subscription_);
  trace_chosen(chosen(worker));
  run_callback(worker);
  return {};
}

Result<void> SubscriptionBase::notify(Arrived arrived) {
  // The middleware does not call the function any more when it has been unset.
  Result<void> result =
      check(rcl_subscription_set_on_new_message_callback(&subscription_, nullptr, nullptr),
            "watch a subscription");
  arrived_ = std::move(arrived);
  if (!result || !arrived_) return result;
  const auto forward = [](const void* self, std::size_t count) {
    static_cast<const SubscriptionBase*>(self)->arrived_(count);
  };
  return check(rcl_subscription_set_on_new_message_callback(&subscription_, forward, this),
               "watch a subscription");
}

Result<std::size_t> SubscriptionBase::publisher_count() const {
  std::size_t count = 0;
  TAKT_TRY(check(rcl_subscription_get_publisher_count(&subscription_, &count),
                 "count the publishers of a subscription"));
  return count;
}

}  // namespace takt::executor
