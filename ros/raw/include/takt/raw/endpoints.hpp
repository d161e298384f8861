#pragma once

#include <rcl/publisher.h>
#include <rcl/subscription.h>
#include <rcl/wait.h>
#include <rmw/serialized_message.h>
#include <rmw/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/executor/node.hpp"

/// Publishers and subscriptions of messages as bytes, whatever their type.
namespace takt::raw {

using NodePointer = std::shared_ptr<executor::Node>;

/// The type and quality with which a topic is published, for a subscription and a publisher like
/// it.
struct Offer {
  /// "package/msg/Type".
  std::string type;
  rmw_qos_profile_t quality = rmw_qos_profile_default;
};

/// Identifies a publisher among all of all processes.
using Gid = std::array<std::uint8_t, RMW_GID_STORAGE_SIZE>;

/// The offers of the topic's publishers except for `own`, each with a history that keeps the last
/// `depth` messages. Empty: there is no publisher yet.
[[nodiscard]] Result<std::vector<Offer>> find_offers(executor::Node& node, const std::string& topic,
                                                     std::size_t depth, std::span<const Gid> own);

/// Lowers a quality to what a subscription may ask for so that publishers of both qualities reach
/// it. Returns whether it was higher.
bool weaken(rmw_qos_profile_t& quality, const rmw_qos_profile_t& other);

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
  [[nodiscard]] std::span<const std::byte> get() const {
    return std::as_bytes(std::span(message_.buffer, message_.buffer_length));
  }

 private:
  rmw_serialized_message_t message_;
};

/// Takes messages of any type without looking into them.
class RawSubscription {
 public:
  /// `others_only`: messages that this process publishes itself do not come back.
  [[nodiscard]] static Result<std::unique_ptr<RawSubscription>> create(NodePointer node,
                                                                       const std::string& topic,
                                                                       const Offer& offer,
                                                                       bool others_only = false);
  ~RawSubscription();
  RawSubscription(const RawSubscription&) = delete;
  RawSubscription& operator=(const RawSubscription&) = delete;

  [[nodiscard]] const rcl_subscription_t* handle() const { return &subscription_; }
  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set);
  /// False: there is no message. `about`, unless it is null, gets what the middleware knows of the
  /// message.
  [[nodiscard]] Result<bool> take(Bytes& bytes, rmw_message_info_t* about = nullptr);

 private:
  explicit RawSubscription(NodePointer node) : node_(std::move(node)) {}

  NodePointer node_;
  rcl_subscription_t subscription_ = rcl_get_zero_initialized_subscription();
};

/// Publishes serialised messages.
class RawPublisher {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RawPublisher>> create(NodePointer node,
                                                                    const std::string& topic,
                                                                    const Offer& offer);
  ~RawPublisher();
  RawPublisher(const RawPublisher&) = delete;
  RawPublisher& operator=(const RawPublisher&) = delete;

  [[nodiscard]] Result<void> publish(std::span<const std::byte> bytes);

  [[nodiscard]] const Gid& gid() const { return gid_; }

  /// Whether there are subscriptions, and all that this node knows of have found this publisher.
  [[nodiscard]] bool matched() const;

 private:
  explicit RawPublisher(NodePointer node) : node_(std::move(node)) {}

  NodePointer node_;
  rcl_publisher_t publisher_ = rcl_get_zero_initialized_publisher();
  Gid gid_{};
};

}  // namespace takt::raw
