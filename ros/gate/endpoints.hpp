#pragma once

#include <rcl/publisher.h>
#include <rcl/subscription.h>
#include <rcl/wait.h>
#include <rmw/serialized_message.h>

#include <memory>
#include <optional>
#include <string>

#include "takt/executor/node.hpp"

namespace takt::gate {

using NodePointer = std::shared_ptr<executor::Node>;

/// How a topic is published: a subscription and a publisher of the same kind take it on.
struct Offer {
  /// "package/msg/Type".
  std::string type;
  rmw_qos_profile_t quality = rmw_qos_profile_default;
};

/// What the first publisher of the topic offers; none: there is no publisher yet.
[[nodiscard]] Result<std::optional<Offer>> find_offer(executor::Node& node,
                                                      const std::string& topic);

/// The type support of a message type, from the library of its package, which stays loaded.
[[nodiscard]] Result<const rosidl_message_type_support_t*> load_type(const std::string& type);

/// A serialised message.
class Bytes {
 public:
  Bytes();
  ~Bytes();
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  [[nodiscard]] rmw_serialized_message_t* handle() { return &message_; }

 private:
  rmw_serialized_message_t message_;
};

/// Takes messages of any type without looking into them.
class RawSubscription {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RawSubscription>> create(NodePointer node,
                                                                       const std::string& topic,
                                                                       const Offer& offer);
  ~RawSubscription();
  RawSubscription(const RawSubscription&) = delete;
  RawSubscription& operator=(const RawSubscription&) = delete;

  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set);
  /// False: there is no message.
  [[nodiscard]] Result<bool> take(Bytes& bytes);

 private:
  explicit RawSubscription(NodePointer node) : node_(std::move(node)) {}

  NodePointer node_;
  rcl_subscription_t subscription_ = rcl_get_zero_initialized_subscription();
};

/// Publishes messages as they were taken.
class RawPublisher {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RawPublisher>> create(NodePointer node,
                                                                    const std::string& topic,
                                                                    const Offer& offer);
  ~RawPublisher();
  RawPublisher(const RawPublisher&) = delete;
  RawPublisher& operator=(const RawPublisher&) = delete;

  [[nodiscard]] Result<void> publish(Bytes& bytes);

 private:
  explicit RawPublisher(NodePointer node) : node_(std::move(node)) {}

  NodePointer node_;
  rcl_publisher_t publisher_ = rcl_get_zero_initialized_publisher();
};

}  // namespace takt::gate
