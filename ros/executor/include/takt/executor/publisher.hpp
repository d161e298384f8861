#pragma once

#include <rcl/publisher.h>

#include <memory>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>

#include "takt/base/try.hpp"
#include "takt/executor/node.hpp"

namespace takt::executor {

/// A publisher of any message type.
class PublisherBase {
 public:
  [[nodiscard]] static Result<std::unique_ptr<PublisherBase>> create(
      std::shared_ptr<Node> node, const rosidl_message_type_support_t* type,
      const std::string& topic, std::size_t depth);

  ~PublisherBase();
  PublisherBase(const PublisherBase&) = delete;
  PublisherBase& operator=(const PublisherBase&) = delete;

  /// Publishes the message at `message`, which is of the type given at creation.
  [[nodiscard]] Result<void> publish(const void* message);

  /// Subscriptions that the middleware has matched so far.
  [[nodiscard]] Result<std::size_t> subscription_count() const;

 private:
  explicit PublisherBase(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  std::shared_ptr<Node> node_;
  rcl_publisher_t publisher_ = rcl_get_zero_initialized_publisher();
};

template <typename Message>
class Publisher {
 public:
  /// Publishes on `topic`, keeping the newest `depth` messages for reliable delivery.
  [[nodiscard]] static Result<Publisher> create(std::shared_ptr<Node> node,
                                                const std::string& topic, std::size_t depth) {
    auto base = TAKT_TRY(PublisherBase::create(
        std::move(node), rosidl_typesupport_cpp::get_message_type_support_handle<Message>(), topic,
        depth));
    return Publisher(std::move(base));
  }

  [[nodiscard]] Result<void> publish(const Message& message) { return base_->publish(&message); }

  [[nodiscard]] Result<std::size_t> subscription_count() const {
    return base_->subscription_count();
  }

 private:
  explicit Publisher(std::unique_ptr<PublisherBase> base) : base_(std::move(base)) {}

  std::unique_ptr<PublisherBase> base_;
};

}  // namespace takt::executor
