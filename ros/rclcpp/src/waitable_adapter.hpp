#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <rclcpp/experimental/subscription_intra_process_base.hpp>
#include <rclcpp/waitable.hpp>
#include <utility>

#include "message_adapter.hpp"

namespace takt::rclcpp {

/// What a waitable gave for one instance.
struct TakenData {
  std::shared_ptr<void> data;

  [[nodiscard]] const void* address() const { return data.get(); }
};

/// A waitable: a user's, or events of quality of service. It must tell when it becomes ready
/// (Waitable::set_on_ready_callback), as for rclcpp's EventsExecutor.
class WaitableAdapter final
    : public MessageAdapter<WaitableAdapter, ::rclcpp::Waitable, TakenData> {
 public:
  explicit WaitableAdapter(const std::shared_ptr<::rclcpp::Waitable>& waitable)
      : MessageAdapter(waitable) {}

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::waitable;
  }

 private:
  friend MessageAdapter;

  void watch(::rclcpp::Waitable& waitable, Arrived arrived);
  void unwatch(::rclcpp::Waitable& waitable);
  [[nodiscard]] bool take(::rclcpp::Waitable& waitable, TakenData& taken);
  void handle(::rclcpp::Waitable& waitable, TakenData& taken);

  /// Guards what follows.
  std::mutex mutex_;
  /// Which of the waitable's parts became ready, in this order.
  std::deque<int> ready_;
};

/// A subscription's messages that come within the process.
class WithinProcessAdapter final
    : public MessageAdapter<WithinProcessAdapter,
                            ::rclcpp::experimental::SubscriptionIntraProcessBase, TakenData> {
 public:
  using Subscription = ::rclcpp::experimental::SubscriptionIntraProcessBase;

  explicit WithinProcessAdapter(const std::shared_ptr<Subscription>& subscription);

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::subscription;
  }

 private:
  friend MessageAdapter;

  void watch(Subscription& subscription, Arrived arrived);
  void unwatch(Subscription& subscription);
  [[nodiscard]] bool take(Subscription& subscription, TakenData& taken) {
    taken.data = subscription.take_data();
    // The buffer may have lost what was announced: newer messages took its place.
    return taken.data != nullptr;
  }
  void handle(Subscription& subscription, TakenData& taken) {
    subscription.execute(std::as_const(taken.data));
  }
};

}  // namespace takt::rclcpp
