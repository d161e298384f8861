#pragma once

#include <memory>
#include <rclcpp/experimental/intra_process_manager.hpp>
#include <rclcpp/message_info.hpp>
#include <rclcpp/subscription_base.hpp>

#include "message_adapter.hpp"

namespace takt::rclcpp {

struct TakenMessage {
  /// It has the subscription's type, or is an rclcpp::SerializedMessage.
  std::shared_ptr<void> message;
  ::rclcpp::MessageInfo info;

  [[nodiscard]] const void* address() const { return message.get(); }
};

/// A subscription's messages that come through the middleware.
class SubscriptionAdapter final
    : public MessageAdapter<SubscriptionAdapter, ::rclcpp::SubscriptionBase, TakenMessage> {
 public:
  SubscriptionAdapter(const std::shared_ptr<::rclcpp::SubscriptionBase>& subscription,
                      ::rclcpp::Context& context);

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::subscription;
  }

 private:
  friend MessageAdapter;

  void watch(::rclcpp::SubscriptionBase& subscription, Arrived arrived);
  void unwatch(::rclcpp::SubscriptionBase& subscription);
  [[nodiscard]] bool each_activates() const { return intra_process_ == nullptr; }
  [[nodiscard]] bool take(::rclcpp::SubscriptionBase& subscription, TakenMessage& taken);
  void handle(::rclcpp::SubscriptionBase& subscription, TakenMessage& taken);

  /// If the subscription also receives within the process.
  std::shared_ptr<::rclcpp::experimental::IntraProcessManager> intra_process_;
};

}  // namespace takt::rclcpp
