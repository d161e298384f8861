#pragma once

#include <rcl/subscription.h>

#include <memory>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>

#include "takt/executor/executable.hpp"
#include "takt/executor/node.hpp"
#include "takt/executor/traced_callback.hpp"

namespace takt::executor {

/// A subscription to messages of any type.
class SubscriptionBase : public Executable {
 public:
  ~SubscriptionBase() override;

  [[nodiscard]] scheduling::Category category() const final {
    return scheduling::Category::subscription;
  }
  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set) final;
  [[nodiscard]] bool is_ready_in(const rcl_wait_set_t& wait_set) const final;
  [[nodiscard]] Result<void> execute() final;

  /// Publishers that the middleware has matched so far.
  [[nodiscard]] Result<std::size_t> publisher_count() const;

 protected:
  explicit SubscriptionBase(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  [[nodiscard]] Result<void> init(const rosidl_message_type_support_t* type,
                                  const std::string& topic, std::size_t depth,
                                  const void* callback);

  /// Where a taken message is stored.
  [[nodiscard]] virtual void* message() = 0;
  virtual void run_callback() = 0;

 private:
  std::shared_ptr<Node> node_;
  rcl_subscription_t subscription_ = rcl_get_zero_initialized_subscription();
  std::size_t wait_set_index_ = 0;
};

template <typename Message>
class Subscription final : public SubscriptionBase {
 public:
  using Callback = std::function<void(const Message&)>;

  /// Subscribes to `topic` with room for the newest `depth` messages. `name` is the callback's in
  /// traces.
  [[nodiscard]] static Result<std::unique_ptr<Subscription>> create(std::shared_ptr<Node> node,
                                                                    const std::string& topic,
                                                                    std::size_t depth,
                                                                    std::string name,
                                                                    Callback callback) {
    std::unique_ptr<Subscription> subscription(
        new Subscription(std::move(node), std::move(name), std::move(callback)));
    const Result<void> result =
        subscription->init(rosidl_typesupport_cpp::get_message_type_support_handle<Message>(),
                           topic, depth, subscription->callback_.address());
    if (!result) return tl::unexpected(result.error());
    subscription->callback_.announce();
    return subscription;
  }

 private:
  Subscription(std::shared_ptr<Node> node, std::string name, Callback callback)
      : SubscriptionBase(std::move(node)), callback_(std::move(name), std::move(callback)) {}

  void* message() override { return &message_; }
  void run_callback() override { callback_(message_); }

  TracedCallback<const Message&> callback_;
  /// Every message is taken into the same one, which keeps the memory of its sequences.
  Message message_;
};

}  // namespace takt::executor
