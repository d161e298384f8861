#pragma once

#include <rmw/rmw.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "post.hpp"
#include "takt/memory/sender.hpp"
#include "trace.hpp"

namespace takt::share {

/// A publisher whose topic is shared.
///
/// It publishes by the middleware as well unless everybody has its messages without. A subscription
/// says that it has received a message with a certain number by the middleware, which proves that
/// the middleware has matched it. If as many say so as the middleware has matched, since either
/// number changed last, the middleware is not needed. The numbers are the middleware's own, which
/// numbers the messages of each publisher from 1 on; so every message by the middleware is counted
/// here, under one lock.
class Publisher : public Endpoint, public std::enable_shared_from_this<Publisher> {
 public:
  /// Null, and why, if its topic is not shared.
  static std::shared_ptr<Publisher> make(const rmw_node_t* node, rmw_publisher_t* publisher,
                                         const rosidl_message_type_support_t* type);
  ~Publisher() override;

  /// Publishes a message. `by_middleware` publishes it by the middleware.
  template <typename ByMiddleware>
  rmw_ret_t publish(const void* message, const ByMiddleware& by_middleware) {
    return publish(message, nullptr, by_middleware);
  }
  template <typename ByMiddleware>
  rmw_ret_t publish_serialized(const rmw_serialized_message_t* message,
                               const ByMiddleware& by_middleware) {
    return publish(message, message, by_middleware);
  }

  /// The middleware's publisher is about to be destroyed.
  void end();

  // Called by the post's thread.
  void hear(int socket) override;
  std::string describe() override;
  [[nodiscard]] std::string file() const override { return path_; }

 private:
  Publisher(rmw_publisher_t* publisher, const rosidl_message_type_support_t* type, bool is_latched,
            std::string path, Descriptor listening);

  template <typename ByMiddleware>
  rmw_ret_t publish(const void* message, const rmw_serialized_message_t* serialized,
                    const ByMiddleware& by_middleware) {
    const std::scoped_lock lock(mutex_);
    const bool has_peers = !sender_.peers().empty();
    // The middleware keeps what it is given for subscriptions that come later.
    const bool alone = has_peers && everybody_shares() && !is_latched_;
    const auto written = has_peers ? write(message, serialized) : std::nullopt;
    if (written && alone) {
      put_alone(*written, message);
      return RMW_RET_OK;
    }
    Doubled doubled(*this, written);
    const rmw_ret_t result = by_middleware();
    if (result != RMW_RET_OK) {
      // It has no number, and the next one has that of this one.
      doubled.take_back();
      return result;
    }
    ++sequence_;
    if (!doubled.is_put()) leave_all();
    return result;
  }

  /// A message in the memory that nobody can see yet.
  struct Written {
    memory::Sender::Slot slot;
    std::size_t size;
  };

  /// Puts a message into the rings just before the middleware sends it, with the time stamp that it
  /// has there; where the middleware tells of no time stamps, at once.
  class Doubled final : public StampListener {
   public:
    /// `written` may be nothing, which is then not put.
    Doubled(Publisher& publisher, const std::optional<Written>& written);
    ~Doubled();
    void on_stamp(std::int64_t stamp) override;
    void take_back();
    [[nodiscard]] bool is_put() const { return is_put_; }

   private:
    Publisher& owner_;
    std::optional<Written> written_;  // nothing: it is put
    bool is_put_ = false;
  };

  [[nodiscard]] bool everybody_shares();
  /// Nothing: there is no memory left, or the message cannot be serialised.
  std::optional<Written> write(const void* message, const rmw_serialized_message_t* serialized);
  void put_alone(const Written& written, const void* message);
  void put(const Written& written, bool doubled, std::int64_t stamp);
  void remove(const memory::Sender::Peer& peer);
  /// After a message that is not in their rings. What is there they still take, and then that one
  /// by the middleware.
  void leave_all();

  std::mutex mutex_;
  rmw_publisher_t* publisher_;  // null: it has ended
  const rosidl_message_type_support_t* type_;
  bool is_latched_;
  std::string topic_;
  std::string path_;
  Descriptor listening_;
  memory::Sender sender_;
  std::uint64_t sequence_ = 0;  // of the last message by the middleware
  std::uint64_t since_ = 1;     // the first number that proves a match now
  std::size_t matched_ = 0;
  std::size_t usual_bytes_ = 4096;
};

}  // namespace takt::share
