#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <rclcpp/client.hpp>
#include <rclcpp/service.hpp>
#include <rclcpp/subscription_base.hpp>
#include <rclcpp/timer.hpp>
#include <rclcpp/waitable.hpp>
#include <string>

#include "takt/scheduling/policy.hpp"
#include "takt/time/time.hpp"

namespace takt::rclcpp {

/// What rclcpp calls an entity: a thing of a node that has a callback.
template <typename T>
concept EntityType =
    std::derived_from<T, ::rclcpp::TimerBase> || std::derived_from<T, ::rclcpp::SubscriptionBase> ||
    std::derived_from<T, ::rclcpp::ServiceBase> || std::derived_from<T, ::rclcpp::ClientBase> ||
    std::derived_from<T, ::rclcpp::Waitable>;

/// Names an entity without keeping it alive. No other entity ever has the same name.
class Entity {
 public:
  template <EntityType T>
  Entity(const std::shared_ptr<T>& entity) : entity_(entity) {}

  [[nodiscard]] bool is_gone() const { return entity_.expired(); }

  friend bool operator<(const Entity& a, const Entity& b) {
    return a.entity_.owner_before(b.entity_);
  }
  friend bool operator==(const Entity& a, const Entity& b) { return !(a < b) && !(b < a); }

 private:
  std::weak_ptr<const void> entity_;
};

/// A callback of an executor. A subscription is one, whether its messages come through the
/// middleware or within the process.
struct Callback {
  Entity entity;
  scheduling::Category category = scheduling::Category::timer;
  /// The node's fully qualified name; empty: its group was added without its node.
  std::string node{};
  /// Topic of a subscription, name of a service or client; fully qualified.
  std::string topic{};
  /// Of a timer.
  std::optional<Duration> period{};
};

}  // namespace takt::rclcpp
