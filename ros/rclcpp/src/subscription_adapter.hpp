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
class SubscriptionAdapter final : public MessageAdapter<::rclcpp::SubscriptionBase, TakenMessage> {
 public:
  SubscriptionAdapter(const std::shared_ptr<::rclcpp::SubscriptionBase>& subscription,
                      ::rclcpp::Context& context);

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::subscription;
  }

 private:
  void watch(::rclcpp::SubscriptionBase& subscription, Arrived arrived) override;
  void unwatch(::rclcpp::SubscriptionBase& subscription) override;
  [[nodiscard]] bool each_activates() const override { return intra_process_ == nullptr; }
  [[nodiscard]] bool take(::rclcpp::SubscriptionBase& subscription, TakenMessage& taken) override;
  void handle(::rclcpp::SubscriptionBase& subscription, TakenMessage& taken) override;

  /// If the subscription also receives within the process.
  std::shared_ptr<::rclcpp::experimental::IntraProcessManager> intra_process_;
};

}  // namespace takt::rclcpp
