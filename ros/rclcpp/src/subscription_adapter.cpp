#include "subscription_adapter.hpp"

#include <tracetools/tracetools.h>

#include <rclcpp/context.hpp>
#include <rclcpp/serialized_message.hpp>
#include <utility>

#include "queue_depth.hpp"

namespace takt::rclcpp {

namespace {

bool is_serialized(const ::rclcpp::SubscriptionBase& subscription) {
  return subscription.get_delivered_message_kind() ==
         ::rclcpp::DeliveredMessageKind::SERIALIZED_MESSAGE;
}

}  // namespace

SubscriptionAdapter::SubscriptionAdapter(
    const std::shared_ptr<::rclcpp::SubscriptionBase>& subscription, ::rclcpp::Context& context)
    : MessageAdapter(subscription, queue_depth(subscription->get_actual_qos())) {
  if (!subscription->get_intra_process_waitable()) return;
  intra_process_ = context.get_sub_context<::rclcpp::experimental::IntraProcessManager>();
}

void SubscriptionAdapter::watch(::rclcpp::SubscriptionBase& subscription, Arrived arrived) {
  subscription.set_on_new_message_callback(std::move(arrived));
}

void SubscriptionAdapter::unwatch(::rclcpp::SubscriptionBase& subscription) {
  subscription.clear_on_new_message_callback();
}

bool SubscriptionAdapter::take(::rclcpp::SubscriptionBase& subscription, TakenMessage& taken) {
  if (is_serialized(subscription)) {
    auto message = subscription.create_serialized_message();
    if (!subscription.take_serialized(*message, taken.info)) return false;
    taken.message = std::move(message);
  } else {
    taken.message = subscription.create_message();
    if (!subscription.take_type_erased(taken.message.get(), taken.info)) return false;
  }
  // What was published within the process has come that way already.
  return !intra_process_ ||
         !intra_process_->matches_any_publishers(&taken.info.get_rmw_message_info().publisher_gid);
}

void SubscriptionAdapter::handle(::rclcpp::SubscriptionBase& subscription, TakenMessage& taken) {
  TRACETOOLS_TRACEPOINT(rclcpp_executor_execute,
                        static_cast<const void*>(subscription.get_subscription_handle().get()));
  if (is_serialized(subscription)) {
    auto message = std::static_pointer_cast<::rclcpp::SerializedMessage>(taken.message);
    subscription.handle_serialized_message(message, taken.info);
    subscription.return_serialized_message(message);
  } else {
    subscription.handle_message(taken.message, taken.info);
    subscription.return_message(taken.message);
  }
}

}  // namespace takt::rclcpp
