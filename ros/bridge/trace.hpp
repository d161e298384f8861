#pragma once

#include <rcl/subscription.h>
#include <rmw/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "takt/bridge/configuration.hpp"
#include "takt/bridge/wire.hpp"
#include "takt/executor/node.hpp"

/// Tracepoints for messages on a link. In traces, a topic's way to a host is a topic of its own,
/// "/scan@base". The sending bridge's callback of /scan publishes on it, and the receiving bridge's
/// callback of it publishes /scan. The thread that sends or receives a message traces when it
/// leaves or comes.
namespace takt::bridge {

/// Identifies a topic's way to a host in recordings of both hosts.
struct Hop {
  std::string name;
  std::array<std::uint8_t, RMW_GID_STORAGE_SIZE> gid{};
};

[[nodiscard]] Hop hop_of(const Configuration& configuration, const Topic& topic, std::size_t to);

/// A run of a callback, as long as the object lives.
class TracedRun {
 public:
  explicit TracedRun(const void* callback);
  ~TracedRun();
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;

 private:
  const void* callback_;
};

/// The sending end. It must not move, as traces identify it by its address.
class TracedSender {
 public:
  TracedSender(Hop hop, executor::Node& node, std::size_t depth);
  TracedSender(const TracedSender&) = delete;
  TracedSender& operator=(const TracedSender&) = delete;

  /// Its messages come from this subscription now.
  void subscribed(const rcl_subscription_t* subscription) const;
  /// Traces the time in which a message that was taken is handled.
  [[nodiscard]] TracedRun run() const { return TracedRun(&callback_); }
  void publishes(const Header& header) const;
  /// The message is about to be sent. In any thread.
  void goes(const Header& header) const;

 private:
  Hop hop_;
  // These stand for objects that tracers know by their addresses.
  char publisher_ = 0;
  char rmw_publisher_ = 0;
  char callback_ = 0;
};

/// The receiving end. It must not move, as traces identify it by its address.
class TracedReceiver {
 public:
  TracedReceiver(Hop hop, executor::Node& node, std::size_t depth);
  TracedReceiver(const TracedReceiver&) = delete;
  TracedReceiver& operator=(const TracedReceiver&) = delete;

  /// The whole message has arrived. In any thread.
  void came(const Header& header) const;
  void takes(const Header& header) const;
  [[nodiscard]] TracedRun run() const { return TracedRun(&callback_); }

 private:
  Hop hop_;
  char subscription_ = 0;
  char rmw_subscription_ = 0;
  char object_ = 0;
  char callback_ = 0;
};

/// Called before and after the wait for work.
void trace_wait(std::int64_t timeout);
void trace_woken();

}  // namespace takt::bridge
