#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <rclcpp/waitable.hpp>

#include "message_adapter.hpp"

namespace takt::rclcpp {

/// What a waitable gave for one instance.
struct TakenData {
  std::shared_ptr<void> data;

  [[nodiscard]] const void* address() const { return data.get(); }
};

/// A waitable: a user's, events of quality of service, or a subscription's messages that come
/// within the process. It must tell when it becomes ready (Waitable::set_on_ready_callback), as
/// for rclcpp's EventsExecutor.
class WaitableAdapter final : public MessageAdapter<::rclcpp::Waitable, TakenData> {
 public:
  explicit WaitableAdapter(const std::shared_ptr<::rclcpp::Waitable>& waitable);

  [[nodiscard]] scheduling::Category category() const override { return category_; }

 private:
  void watch(::rclcpp::Waitable& waitable, Arrived arrived) override;
  void unwatch(::rclcpp::Waitable& waitable) override;
  [[nodiscard]] bool take(::rclcpp::Waitable& waitable, TakenData& taken) override;
  void handle(::rclcpp::Waitable& waitable, TakenData& taken) override;

  scheduling::Category category_;
  /// Guards what follows.
  std::mutex mutex_;
  /// Which of the waitable's parts became ready, in this order.
  std::deque<int> ready_;
};

}  // namespace takt::rclcpp
