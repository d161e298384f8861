#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <rclcpp/experimental/subscription_intra_process_base.hpp>
#include <rclcpp/waitable.hpp>

#include "message_adapter.hpp"

namespace takt::rclcpp {

/// What a waitable gave for one instance.
struct TakenData {
  std::shared_ptr<void> data;

  [[nodiscard]] const void* address() const { return data.get(); }
};

/// A waitable: a user's, or events of quality of service. It must tell when it becomes ready
/// (Waitable::set_on_ready_callback), as for rclcpp's EventsExecutor.
class WaitableAdapter final : public MessageAdapter<::rclcpp::Waitable, TakenData> {
 public:
  explicit WaitableAdapter(const std::shared_ptr<::rclcpp::Waitable>& waitable)
      : MessageAdapter(waitable) {}

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::waitable;
  }

 private:
  void watch(::rclcpp::Waitable& waitable, Arrived arrived) override;
  void unwatch(::rclcpp::Waitable& waitable) override;
  [[nodiscard]] bool take(::rclcpp::Waitable& waitable, TakenData& taken) override;
  void handle(::rclcpp::Waitable& waitable, TakenData& taken) override;

  /// Guards what follows.
  std::mutex mutex_;
  /// Which of the waitable's parts became ready, in this order.
  std::deque<int> ready_;
};

/// A subscription's messages that come within the process.
class WithinProcessAdapter final
    : public MessageAdapter<::rclcpp::experimental::SubscriptionIntraProcessBase, TakenData> {
 public:
  using Subscription = ::rclcpp::experimental::SubscriptionIntraProcessBase;

  explicit WithinProcessAdapter(const std::shared_ptr<Subscription>& subscription);

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::subscription;
  }

 private:
  void watch(Subscription& subscription, Arrived arrived) override;
  void unwatch(Subscription& subscription) override;
  [[nodiscard]] bool take(Subscription& subscription, TakenData& taken) override;
  void handle(Subscription& subscription, TakenData& taken) override;
};

}  // namespace takt::rclcpp
