#pragma once

#include <memory>
#include <rclcpp/client.hpp>
#include <rclcpp/service.hpp>
#include <rclcpp/subscription_base.hpp>
#include <rclcpp/timer.hpp>
#include <rclcpp/waitable.hpp>
#include <type_traits>

namespace takt::rclcpp {

/// Whether T is what rclcpp calls an entity: a thing of a node that has a callback.
template <typename T>
inline constexpr bool is_entity = std::disjunction_v<
    std::is_base_of<::rclcpp::TimerBase, T>, std::is_base_of<::rclcpp::SubscriptionBase, T>,
    std::is_base_of<::rclcpp::ServiceBase, T>, std::is_base_of<::rclcpp::ClientBase, T>,
    std::is_base_of<::rclcpp::Waitable, T>>;

/// Names an entity without keeping it alive. No other entity ever has the same name.
class Entity {
 public:
  template <typename T, typename = std::enable_if_t<is_entity<T>>>
  Entity(const std::shared_ptr<T>& entity) : entity_(entity) {}

  friend bool operator<(const Entity& a, const Entity& b) {
    return a.entity_.owner_before(b.entity_);
  }
  friend bool operator==(const Entity& a, const Entity& b) { return !(a < b) && !(b < a); }
  friend bool operator!=(const Entity& a, const Entity& b) { return !(a == b); }

 private:
  std::weak_ptr<const void> entity_;
};

}  // namespace takt::rclcpp
