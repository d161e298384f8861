#pragma once

#include <rmw/rmw.h>
#include <rmw/serialized_message.h>

namespace takt::share {

/// The functions of the middleware itself that are used beside the one that was called.
struct Middleware {
  decltype(&rmw_serialize) serialize;
  decltype(&rmw_deserialize) deserialize;
  decltype(&rmw_publisher_count_matched_subscriptions) count_matched;
  decltype(&rmw_get_gid_for_publisher) gid_of;
  decltype(&rmw_publisher_get_actual_qos) publisher_qos;
  decltype(&rmw_subscription_get_actual_qos) subscription_qos;
  decltype(&rmw_take_serialized_message_with_info) take_serialized;
  decltype(&rmw_create_guard_condition) create_guard_condition;
  decltype(&rmw_destroy_guard_condition) destroy_guard_condition;
  decltype(&rmw_trigger_guard_condition) trigger;

  /// Not for use where a function is missing.
  [[nodiscard]] bool is_complete() const;
};

/// Looked up at the first call.
const Middleware& middleware();

/// Forgets the middleware's last error, which nobody is to be told.
void forget_error();

}  // namespace takt::share
