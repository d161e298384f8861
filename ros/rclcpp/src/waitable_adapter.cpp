#include "waitable_adapter.hpp"

#include <utility>

#include "queue_depth.hpp"

namespace takt::rclcpp {

void WaitableAdapter::watch(::rclcpp::Waitable& waitable, Arrived arrived) {
  waitable.set_on_ready_callback([this, arrived = std::move(arrived)](std::size_t count, int part) {
    {
      const std::scoped_lock lock(mutex_);
      ready_.insert(ready_.end(), count, part);
    }
    arrived(count);
  });
}

void WaitableAdapter::unwatch(::rclcpp::Waitable& waitable) { waitable.clear_on_ready_callback(); }

bool WaitableAdapter::take(::rclcpp::Waitable& waitable, TakenData& taken) {
  int part = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (ready_.empty()) return false;
    part = ready_.front();
    ready_.pop_front();
  }
  taken.data = waitable.take_data_by_entity_id(static_cast<std::size_t>(part));
  return true;
}

void WaitableAdapter::handle(::rclcpp::Waitable& waitable, TakenData& taken) {
  waitable.execute(std::as_const(taken.data));
}

WithinProcessAdapter::WithinProcessAdapter(const std::shared_ptr<Subscription>& subscription)
    : MessageAdapter(subscription, queue_depth(subscription->get_actual_qos())) {}

void WithinProcessAdapter::watch(Subscription& subscription, Arrived arrived) {
  subscription.set_on_ready_callback(
      [arrived = std::move(arrived)](std::size_t count, int /*part*/) { arrived(count); });
}

void WithinProcessAdapter::unwatch(Subscription& subscription) {
  subscription.clear_on_ready_callback();
}

}  // namespace takt::rclcpp
