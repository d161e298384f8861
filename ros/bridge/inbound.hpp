#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "outbound.hpp"
#include "takt/bridge/seen.hpp"
#include "takt/link/channel.hpp"
#include "takt/time/time.hpp"

namespace takt::bridge {

/// A topic that comes from a peer: publishes its messages as the peer offers them.
class Inbound {
 public:
  /// `process`: the number of this process, which stands in messages that are sent for it. `begin`:
  /// when its node was made.
  Inbound(const Topic& topic, std::uint64_t process, Instant begin, const Hop& hop,
          raw::NodePointer node, Say say);

  /// The peer offers the topic in this way now.
  void offer(const Offered& offered, Instant now);

  /// Whether messages are published; until then they wait. A new publisher gives subscriptions time
  /// to find it, as messages would be lost to them otherwise.
  [[nodiscard]] bool open(Instant now);
  /// Publishes a message, or counts why it is not published. It may be anything, as it comes from
  /// the peer.
  void publish(std::span<const std::byte> message);

  /// A message that waits to be published.
  struct Waiting {
    link::Item item;
    std::span<const std::byte> message;
  };
  /// Adds a message; returns the oldest if it has to give way.
  [[nodiscard]] std::optional<Waiting> enqueue(const Waiting& message);
  [[nodiscard]] std::optional<Waiting> next();
  [[nodiscard]] bool waits() const { return !waiting_.empty(); }

  /// Its publisher; null: the peer has not offered the topic yet.
  [[nodiscard]] const raw::RawPublisher* publisher() const { return publisher_.get(); }
  [[nodiscard]] const TracedReceiver& trace() const { return trace_; }

  std::uint64_t received = 0;
  std::uint64_t published = 0;
  /// Messages that were published before.
  std::uint64_t repeated = 0;
  /// Messages that the peer sent before it knew of this process. It sends the last ones again.
  std::uint64_t early = 0;
  std::uint64_t dropped = 0;
  /// Messages that were not written by a bridge, or that the middleware refused to publish.
  std::uint64_t refused = 0;

 private:
  void refuse(std::string_view why);

  const Topic& topic_;
  std::uint64_t process_;
  Instant begin_;
  raw::NodePointer node_;
  TracedReceiver trace_;
  Say say_;
  std::optional<Offered> offered_;
  std::unique_ptr<raw::RawPublisher> publisher_;
  Instant made_{};
  /// Whether the publisher keeps messages for late joiners.
  bool keeps_ = false;
  bool open_ = false;
  /// The messages that have been published here.
  Seen published_before_;
  std::deque<Waiting> waiting_;
};

}  // namespace takt::bridge
