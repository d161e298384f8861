// The functions of the middleware interface that this library stands before. Each does what it does
// without this library wherever a topic is not shared.

#include <rmw/dynamic_message_type_support.h>
#include <rmw/error_handling.h>
#include <rmw/rmw.h>

#include <cstring>

#include "middleware.hpp"
#include "publisher.hpp"
#include "real.hpp"
#include "registry.hpp"
#include "subscription.hpp"
#include "terms.hpp"

namespace takt::share {

// Never destroyed, as other threads run until the process has ended.
Registry<Publisher>& publishers() {
  static auto* const all = new Registry<Publisher>;
  return *all;
}

Registry<Subscription>& subscriptions() {
  static auto* const all = new Registry<Subscription>;
  return *all;
}

}  // namespace takt::share

namespace {

using takt::share::Publisher;
using takt::share::publishers;
using takt::share::Subscription;
using takt::share::subscriptions;

bool shares() {
  return takt::share::folder() && !takt::share::is_forked() &&
         takt::share::middleware().is_complete();
}

std::shared_ptr<Subscription> subscription_of(const rmw_subscription_t* subscription) {
  if (!takt::share::folder() || subscription == nullptr) return nullptr;
  auto found = subscriptions().find(subscription->data);
  return found && !found->is_plain() ? found : nullptr;
}

std::shared_ptr<Publisher> publisher_of(const rmw_publisher_t* publisher) {
  if (!takt::share::folder()) return nullptr;
  return publishers().find(publisher);
}

/// A message of the program's type.
class TypedTarget final : public Subscription::Target {
 public:
  TypedTarget(void* message, const rosidl_message_type_support_t* type)
      : message_(message), type_(type) {}
  rmw_ret_t put(const rmw_serialized_message_t& message) override {
    return takt::share::middleware().deserialize(&message, type_, message_);
  }

 private:
  void* message_;
  const rosidl_message_type_support_t* type_;
};

/// The bytes as they are.
class SerializedTarget final : public Subscription::Target {
 public:
  explicit SerializedTarget(rmw_serialized_message_t* message) : message_(message) {}
  rmw_ret_t put(const rmw_serialized_message_t& message) override {
    if (message_->buffer_capacity < message.buffer_length) {
      auto& allocator = message_->allocator;
      void* const larger =
          allocator.reallocate(message_->buffer, message.buffer_length, allocator.state);
      if (larger == nullptr) return RMW_RET_BAD_ALLOC;
      message_->buffer = static_cast<std::uint8_t*>(larger);
      message_->buffer_capacity = message.buffer_length;
    }
    if (message.buffer_length > 0) {
      std::memcpy(message_->buffer, message.buffer, message.buffer_length);
    }
    message_->buffer_length = message.buffer_length;
    return RMW_RET_OK;
  }

 private:
  rmw_serialized_message_t* message_;
};

}  // namespace

extern "C" {

rmw_publisher_t* rmw_create_publisher(const rmw_node_t* node,
                                      const rosidl_message_type_support_t* type_support,
                                      const char* topic_name, const rmw_qos_profile_t* qos_policies,
                                      const rmw_publisher_options_t* publisher_options) {
  TAKT_REAL(rmw_create_publisher);
  rmw_publisher_t* const made =
      real(node, type_support, topic_name, qos_policies, publisher_options);
  if (made == nullptr || !shares()) return made;
  if (auto shared = Publisher::make(node, made, type_support)) {
    made->can_loan_messages = false;  // a loan is the middleware's memory
    publishers().add(made, std::move(shared));
  }
  return made;
}

rmw_ret_t rmw_destroy_publisher(rmw_node_t* node, rmw_publisher_t* publisher) {
  TAKT_REAL(rmw_destroy_publisher);
  if (shares()) {
    if (const auto shared = publishers().remove(publisher)) shared->end();
    takt::share::post().forget(publisher);
  }
  return real(node, publisher);
}

rmw_ret_t rmw_publish(const rmw_publisher_t* publisher, const void* ros_message,
                      rmw_publisher_allocation_t* allocation) {
  TAKT_REAL(rmw_publish);
  const auto by_middleware = [&] { return real(publisher, ros_message, allocation); };
  const auto shared = publisher_of(publisher);
  if (!shared || ros_message == nullptr) return by_middleware();
  return shared->publish(ros_message, by_middleware);
}

rmw_ret_t rmw_publish_serialized_message(const rmw_publisher_t* publisher,
                                         const rmw_serialized_message_t* serialized_message,
                                         rmw_publisher_allocation_t* allocation) {
  TAKT_REAL(rmw_publish_serialized_message);
  const auto by_middleware = [&] { return real(publisher, serialized_message, allocation); };
  const auto shared = publisher_of(publisher);
  if (!shared || serialized_message == nullptr) return by_middleware();
  return shared->publish_serialized(serialized_message, by_middleware);
}

rmw_subscription_t* rmw_create_subscription(
    const rmw_node_t* node, const rosidl_message_type_support_t* type_support,
    const char* topic_name, const rmw_qos_profile_t* qos_policies,
    const rmw_subscription_options_t* subscription_options) {
  TAKT_REAL(rmw_create_subscription);
  rmw_subscription_t* const made =
      real(node, type_support, topic_name, qos_policies, subscription_options);
  if (made == nullptr || !shares()) return made;
  if (auto shared = Subscription::make(node, made, type_support)) {
    made->can_loan_messages = false;
    subscriptions().add(made->data, std::move(shared));
  }
  return made;
}

rmw_ret_t rmw_destroy_subscription(rmw_node_t* node, rmw_subscription_t* subscription) {
  TAKT_REAL(rmw_destroy_subscription);
  if (shares() && subscription != nullptr) {
    if (const auto shared = subscriptions().remove(subscription->data)) shared->end();
    takt::share::post().forget(subscription);
  }
  return real(node, subscription);
}

rmw_ret_t rmw_subscription_set_content_filter(
    rmw_subscription_t* subscription, const rmw_subscription_content_filter_options_t* options) {
  TAKT_REAL(rmw_subscription_set_content_filter);
  // From now on it takes what the middleware lets through.
  if (shares() && subscription != nullptr) {
    if (const auto shared = subscriptions().remove(subscription->data)) {
      shared->end();
      takt::share::post().refused(subscription, subscription->topic_name, "subscription",
                                  "it filters messages by their content");
    }
  }
  return real(subscription, options);
}

rmw_ret_t rmw_subscription_set_on_new_message_callback(rmw_subscription_t* subscription,
                                                       rmw_event_callback_t callback,
                                                       const void* user_data) {
  TAKT_REAL(rmw_subscription_set_on_new_message_callback);
  const rmw_ret_t result = real(subscription, callback, user_data);
  if (result == RMW_RET_OK && takt::share::folder()) {
    if (const auto shared = subscriptions().find(subscription->data)) {
      shared->set_callback(callback, user_data);
    }
  }
  return result;
}

rmw_ret_t rmw_take(const rmw_subscription_t* subscription, void* ros_message, bool* taken,
                   rmw_subscription_allocation_t* allocation) {
  TAKT_REAL(rmw_take);
  const auto shared = subscription_of(subscription);
  if (!shared) return real(subscription, ros_message, taken, allocation);
  TypedTarget target(ros_message, shared->type());
  return shared->take(target, ros_message, taken, nullptr);
}

rmw_ret_t rmw_take_with_info(const rmw_subscription_t* subscription, void* ros_message, bool* taken,
                             rmw_message_info_t* message_info,
                             rmw_subscription_allocation_t* allocation) {
  TAKT_REAL(rmw_take_with_info);
  const auto shared = subscription_of(subscription);
  if (!shared) return real(subscription, ros_message, taken, message_info, allocation);
  TypedTarget target(ros_message, shared->type());
  return shared->take(target, ros_message, taken, message_info);
}

rmw_ret_t rmw_take_sequence(const rmw_subscription_t* subscription, std::size_t count,
                            rmw_message_sequence_t* message_sequence,
                            rmw_message_info_sequence_t* message_info_sequence, std::size_t* taken,
                            rmw_subscription_allocation_t* allocation) {
  TAKT_REAL(rmw_take_sequence);
  const auto shared = subscription_of(subscription);
  if (!shared || count > message_sequence->capacity || count > message_info_sequence->capacity) {
    return real(subscription, count, message_sequence, message_info_sequence, taken, allocation);
  }
  *taken = 0;
  rmw_ret_t result = RMW_RET_OK;
  for (bool more = true; more && *taken < count && result == RMW_RET_OK;) {
    void* const message = message_sequence->data[*taken];
    TypedTarget target(message, shared->type());
    result = shared->take(target, message, &more, &message_info_sequence->data[*taken]);
    if (more) ++*taken;
  }
  message_sequence->size = *taken;
  message_info_sequence->size = *taken;
  return *taken > 0 ? RMW_RET_OK : result;
}

rmw_ret_t rmw_take_serialized_message(const rmw_subscription_t* subscription,
                                      rmw_serialized_message_t* serialized_message, bool* taken,
                                      rmw_subscription_allocation_t* allocation) {
  TAKT_REAL(rmw_take_serialized_message);
  const auto shared = subscription_of(subscription);
  if (!shared) return real(subscription, serialized_message, taken, allocation);
  SerializedTarget target(serialized_message);
  return shared->take(target, serialized_message, taken, nullptr);
}

rmw_ret_t rmw_take_serialized_message_with_info(const rmw_subscription_t* subscription,
                                                rmw_serialized_message_t* serialized_message,
                                                bool* taken, rmw_message_info_t* message_info,
                                                rmw_subscription_allocation_t* allocation) {
  TAKT_REAL(rmw_take_serialized_message_with_info);
  const auto shared = subscription_of(subscription);
  if (!shared) return real(subscription, serialized_message, taken, message_info, allocation);
  SerializedTarget target(serialized_message);
  return shared->take(target, serialized_message, taken, message_info);
}

}  // extern "C"
