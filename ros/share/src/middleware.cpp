#include "middleware.hpp"

#include "real.hpp"

namespace takt::share {

bool Middleware::is_complete() const {
  return serialize != nullptr && deserialize != nullptr && count_matched != nullptr &&
         gid_of != nullptr && publisher_qos != nullptr && subscription_qos != nullptr &&
         take_serialized != nullptr && create_guard_condition != nullptr &&
         destroy_guard_condition != nullptr && trigger != nullptr;
}

const Middleware& middleware() {
  static const Middleware found{
      .serialize = TAKT_MIDDLEWARE(rmw_serialize),
      .deserialize = TAKT_MIDDLEWARE(rmw_deserialize),
      .count_matched = TAKT_MIDDLEWARE(rmw_publisher_count_matched_subscriptions),
      .gid_of = TAKT_MIDDLEWARE(rmw_get_gid_for_publisher),
      .publisher_qos = TAKT_MIDDLEWARE(rmw_publisher_get_actual_qos),
      .subscription_qos = TAKT_MIDDLEWARE(rmw_subscription_get_actual_qos),
      .take_serialized = reinterpret_cast<decltype(&rmw_take_serialized_message_with_info)>(
          tracetools::next_function(
              "rmw_take_serialized_message_with_info",
              reinterpret_cast<const void*>(&rmw_take_serialized_message_with_info))),
      .create_guard_condition = TAKT_MIDDLEWARE(rmw_create_guard_condition),
      .destroy_guard_condition = TAKT_MIDDLEWARE(rmw_destroy_guard_condition),
      .trigger = TAKT_MIDDLEWARE(rmw_trigger_guard_condition),
  };
  return found;
}

void forget_error() {
  static auto* const reset =
      reinterpret_cast<void (*)()>(tracetools::next_function("rcutils_reset_error", nullptr));
  if (reset != nullptr) reset();
}

}  // namespace takt::share
