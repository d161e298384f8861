#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "takt/bridge/configuration.hpp"
#include "takt/bridge/seen.hpp"
#include "takt/bridge/wire.hpp"
#include "takt/raw/endpoints.hpp"
#include "trace.hpp"

namespace takt::bridge {

/// Says something to the user, once.
using Say = std::function<void(const std::string&)>;

/// A topic of this host on its way to a peer: takes its messages as publishers offer them.
class Outbound {
 public:
  /// Puts a message on the link. False: there is no room.
  using Send = std::function<bool(const Header&, std::span<const std::byte>)>;

  Outbound(const Topic& topic, std::uint32_t stream, const Hop& hop, raw::NodePointer node,
           Send send, Say say);

  /// Subscribes once somebody publishes, except for the bridge's own publishers, and anew if
  /// another publisher offers less. True: the offer that the peer must know has changed.
  [[nodiscard]] Result<bool> look(std::span<const raw::Gid> own);

  /// The offer that the peer must know; none: nobody publishes yet.
  [[nodiscard]] std::optional<Offered> offered() const;
  [[nodiscard]] raw::RawSubscription* subscription() const { return subscription_.get(); }

  /// Takes a message if there is one, for the peer's process of that number.
  [[nodiscard]] Result<bool> take(std::uint64_t peer);

  /// Sends the messages that late joiners get again, to a peer that has begun anew.
  void repeat(std::uint64_t peer);

  [[nodiscard]] const TracedSender& trace() const { return trace_; }

  std::uint64_t taken = 0;
  /// Messages that were published, and lost before they could be taken.
  std::uint64_t missed = 0;
  std::uint64_t too_large = 0;
  /// Messages that were taken, but for which the link had no room.
  std::uint64_t no_room = 0;

 private:
  struct Kept {
    Header header;
    std::vector<std::byte> bytes;
  };

  [[nodiscard]] Result<std::optional<raw::Offer>> choose(std::span<const raw::Gid> own);
  [[nodiscard]] bool latched() const;
  void send(const Header& header, std::span<const std::byte> bytes);

  const Topic& topic_;
  std::uint32_t stream_;
  raw::NodePointer node_;
  TracedSender trace_;
  Send send_;
  Say say_;
  std::optional<raw::Offer> offer_;
  std::unique_ptr<raw::RawSubscription> subscription_;
  std::unique_ptr<raw::Bytes> bytes_ = std::make_unique<raw::Bytes>();
  Seen taken_before_;
  /// The last messages of transient local publishers.
  std::deque<Kept> kept_;
};

}  // namespace takt::bridge
