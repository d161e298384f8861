#pragma once

#include <rcl/subscription.h>

#include <memory>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>
#include <vector>

#include "takt/base/ring.hpp"
#include "takt/base/try.hpp"
#include "takt/executor/decision_trace.hpp"
#include "takt/executor/executable.hpp"
#include "takt/executor/node.hpp"
#include "takt/executor/traced_callback.hpp"

namespace takt::executor {

/// A subscription to messages of any type.
class SubscriptionBase : public MessageExecutable, public WaitSetEntity {
 public:
  ~SubscriptionBase() override;

  [[nodiscard]] scheduling::Category category() const final {
    return scheduling::Category::subscription;
  }
  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set) final;
  [[nodiscard]] bool is_ready_in(const rcl_wait_set_t& wait_set) const final;
  [[nodiscard]] Result<void> execute() final;
  [[nodiscard]] Result<void> notify(Arrived arrived) final;
  [[nodiscard]] Result<void> run(std::size_t worker) final;

  /// Publishers that the middleware has matched so far.
  [[nodiscard]] Result<std::size_t> publisher_count() const;

 protected:
  explicit SubscriptionBase(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  [[nodiscard]] Result<void> init(const rosidl_message_type_support_t* type,
                                  const std::string& topic, std::size_t depth,
                                  const void* callback);

  /// Takes a message into message(). False: there is none.
  [[nodiscard]] Result<bool> take();

  /// Where a taken message is stored.
  [[nodiscard]] virtual void* message() = 0;
  /// Makes the taken message the one that worker 0 runs next.
  virtual void choose_taken() = 0;
  /// The message chosen for that worker.
  [[nodiscard]] virtual const void* chosen(std::size_t worker) const = 0;
  /// Runs the callback with the message chosen for that worker.
  virtual void run_callback(std::size_t worker) = 0;

 private:
  std::shared_ptr<Node> node_;
  rcl_subscription_t subscription_ = rcl_get_zero_initialized_subscription();
  Arrived arrived_;
  std::size_t wait_set_index_ = 0;
};

template <typename Message>
class Subscription final : public SubscriptionBase {
 public:
  using Callback = std::function<void(const Message&)>;

  /// What executors that bind messages to instances ask of a message when they take it.
  struct Admission {
    /// Whether it activates the callback. Empty: each does.
    std::function<bool(const Message&)> activates{};
    /// The origin that it carries. Empty: none does.
    std::function<std::optional<Instant>(const Message&)> origin{};
  };

  /// Subscribes to `topic` with room for the newest `depth` messages. `name` is the callback's in
  /// traces.
  [[nodiscard]] static Result<std::unique_ptr<Subscription>> create(
      std::shared_ptr<Node> node, const std::string& topic, std::size_t depth, std::string name,
      Callback callback, Admission admission = {}) {
    std::unique_ptr<Subscription> subscription(new Subscription(
        std::move(node), depth, std::move(name), std::move(callback), std::move(admission)));
    TAKT_TRY(subscription->init(rosidl_typesupport_cpp::get_message_type_support_handle<Message>(),
                                topic, depth, subscription->callback_.address()));
    subscription->callback_.announce();
    return subscription;
  }

  [[nodiscard]] const void* traced_callback() const override { return callback_.address(); }

  [[nodiscard]] std::size_t room(scheduling::Queueing /*queueing*/) const override { return 0; }

  [[nodiscard]] Result<Admitted> admit(scheduling::Queueing /*queueing*/) override {
    const bool taken = TAKT_TRY(take());
    if (!taken) return Admitted{};
    if (admission_.activates && !admission_.activates(*taken_)) {
      callback_.pass_over();
      return Admitted{};
    }
    Admitted admitted{.activates = waiting_.size() < depth_};
    if (admission_.origin) admitted.origin = admission_.origin(*taken_);
    // Where there is no room, the message takes the place of the oldest one and its instance.
    if (!admitted.activates) waiting_.pop_front(lost_);
    trace_kept(taken_.get());
    waiting_.push_back(taken_);
    return admitted;
  }

  void set_workers(std::size_t count) override { chosen_.resize(count); }

  void choose(scheduling::Queueing queueing, std::size_t newer, std::size_t worker) override {
    if (queueing == scheduling::Queueing::oldest_first) {
      waiting_.pop_front(chosen_[worker]);
      return;
    }
    waiting_.take(newer, chosen_[worker]);
    while (queueing == scheduling::Queueing::newest_only && !waiting_.empty()) {
      waiting_.pop_front(taken_);
    }
  }

 private:
  Subscription(std::shared_ptr<Node> node, std::size_t depth, std::string name, Callback callback,
               Admission admission)
      : SubscriptionBase(std::move(node)),
        depth_(depth),
        callback_(std::move(name), std::move(callback)),
        admission_(std::move(admission)) {}

  void* message() override {
    if (!taken_) taken_ = std::make_unique<Message>();
    return taken_.get();
  }
  void choose_taken() override { std::swap(chosen_.front(), taken_); }
  const void* chosen(std::size_t worker) const override { return chosen_[worker].get(); }
  void run_callback(std::size_t worker) override { callback_(*chosen_[worker]); }

  std::size_t depth_;
  TracedCallback<const Message&> callback_;
  Admission admission_;
  // Messages are taken into the same objects again and again, which keep the memory of their
  // sequences. They stay where they are, as traces tell one that waits by its address.
  using Storage = std::unique_ptr<Message>;
  Storage taken_;
  Storage lost_;
  /// By worker.
  std::vector<Storage> chosen_ = std::vector<Storage>(1);
  Ring<Storage> waiting_{4};
};

}  // namespace takt::executor
