#include "waitable_adapter.hpp"

#include <rclcpp/experimental/subscription_intra_process_base.hpp>
#include <utility>

#include "queue_depth.hpp"

namespace takt::rclcpp {

using ::rclcpp::experimental::SubscriptionIntraProcessBase;

namespace {

const SubscriptionIntraProcessBase* as_subscription(const ::rclcpp::Waitable* waitable) {
  return dynamic_cast<const SubscriptionIntraProcessBase*>(waitable);
}

std::size_t depth(const ::rclcpp::Waitable* waitable) {
  const SubscriptionIntraProcessBase* subscription = as_subscription(waitable);
  return subscription != nullptr ? queue_depth(subscription->get_actual_qos()) : unlimited;
}

}  // namespace

WaitableAdapter::WaitableAdapter(const std::shared_ptr<::rclcpp::Waitable>& waitable)
    : MessageAdapter(waitable, depth(waitable.get())),
      category_(as_subscription(waitable.get()) != nullptr ? scheduling::Category::subscription
                                                           : scheduling::Category::waitable) {}

void WaitableAdapter::watch(::rclcpp::Waitable& waitable, Arrived arrived) {
  waitable.set_on_ready_callback([this, arrived = std::move(arrived)](std::size_t count, int part) {
    {
      const std::lock_guard lock(mutex_);
      ready_.insert(ready_.end(), count, part);
    }
    arrived(count);
  });
}

void WaitableAdapter::unwatch(::rclcpp::Waitable& waitable) { waitable.clear_on_ready_callback(); }

bool WaitableAdapter::take(::rclcpp::Waitable& waitable, TakenData& taken) {
  int part = 0;
  {
    const std::lock_guard lock(mutex_);
    if (ready_.empty()) return false;
    part = ready_.front();
    ready_.pop_front();
  }
  taken.data = waitable.take_data_by_entity_id(static_cast<std::size_t>(part));
  // Only a subscription's buffer can have lost what was announced: newer messages took its place.
  return taken.data != nullptr || category_ == scheduling::Category::waitable;
}

void WaitableAdapter::handle(::rclcpp::Waitable& waitable, TakenData& taken) {
  waitable.execute(std::as_const(taken.data));
}

}  // namespace takt::rclcpp
