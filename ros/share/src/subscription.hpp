#pragma once

#include <rmw/rmw.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "post.hpp"
#include "takt/memory/receiver.hpp"

namespace takt::share {

/// A subscription whose topic is shared.
///
/// It takes the messages of a publisher from the middleware until it has one that is in the
/// publisher's ring, too. That one is the switch: it takes what comes after it from the ring, and
/// drops what the middleware brings again. So messages come once and in order, whichever way they
/// take.
class Subscription : public Endpoint, public std::enable_shared_from_this<Subscription> {
 public:
  /// Null, and why, if its topic is not shared.
  static std::shared_ptr<Subscription> make(const rmw_node_t* node,
                                            rmw_subscription_t* subscription,
                                            const rosidl_message_type_support_t* type);
  ~Subscription() override;

  /// Where the content of a message goes.
  class Target {
   public:
    virtual rmw_ret_t put(const rmw_serialized_message_t& message) = 0;

   protected:
    ~Target() = default;
  };

  /// Whether all messages come by the middleware, and none is waited for in another way.
  [[nodiscard]] bool is_plain();
  /// Takes the oldest message. `info` may be null. `traced` is what the trace names as the message.
  rmw_ret_t take(Target& target, const void* traced, bool* taken, rmw_message_info_t* info);
  [[nodiscard]] const rosidl_message_type_support_t* type() const { return type_; }

  /// Triggers the condition at every message, until stop_waiting.
  void wait(const rmw_guard_condition_t* condition);
  void stop_waiting(const rmw_guard_condition_t* condition);
  /// Whether there is a message. `by_middleware`: the middleware says that it has one.
  [[nodiscard]] bool is_ready(bool by_middleware);

  void set_callback(rmw_event_callback_t callback, const void* data);
  /// The middleware's subscription is about to be destroyed.
  void end();

  // Called by the post's thread.
  void hear(int socket) override;
  bool look() override;
  std::string describe() override;

 private:
  using Gid = std::array<std::uint8_t, RMW_GID_STORAGE_SIZE>;

  struct Channel {
    std::string path;
    Gid gid;
    std::unique_ptr<memory::Receiver> receiver;
    bool is_gone = false;
    bool is_switched = false;    // messages are taken from the ring
    std::uint64_t sequence = 0;  // the ring has all messages up to this number of the middleware
    std::uint64_t told = 0;      // the newest message that the callback was told of
  };
  /// A message that was taken from the middleware before it was asked for.
  struct Ahead {
    rmw_serialized_message_t message;
    rmw_message_info_t info;
    const Channel* channel;  // of its publisher, or null
    std::uint64_t after;     // it comes after this message of the channel's ring
  };
  struct Past {
    Gid gid;
    std::uint64_t sequence;
  };

  Subscription(rmw_subscription_t* subscription, const rosidl_message_type_support_t* type,
               std::uint32_t depth, std::string name);

  void refill();
  [[nodiscard]] bool is_new(const rmw_message_info_t& info, Ahead& ahead);
  void update_sequence(Channel& channel) const;
  void drop_gone();
  void drop_beyond_depth();
  [[nodiscard]] bool has_any() const;
  /// The channel with the oldest message that is to be taken from a ring, or null.
  [[nodiscard]] std::shared_ptr<Channel> oldest(memory::Message& message) const;
  [[nodiscard]] bool is_ahead_first(const Channel* ring, const memory::Message& message) const;
  [[nodiscard]] std::uint64_t past(const Gid& gid) const;
  void arm();

  std::mutex mutex_;
  rmw_subscription_t* subscription_;  // null: it has ended
  const rosidl_message_type_support_t* type_;
  std::string topic_;
  std::string name_;  // how the files of its publishers begin
  std::uint32_t depth_;
  std::vector<std::shared_ptr<Channel>> channels_;
  std::deque<Past> past_;
  std::optional<Ahead> ahead_;
  rmw_serialized_message_t spare_;
  std::vector<const rmw_guard_condition_t*> waiting_;
  rmw_event_callback_t callback_ = nullptr;
  const void* callback_data_ = nullptr;
  std::uint64_t by_ring_ = 0;
};

}  // namespace takt::share
