#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "takt/link/channel.hpp"
#include "takt/link/description.hpp"
#include "takt/link/number_window.hpp"
#include "takt/link/transport.hpp"

namespace takt::link {

/// Puts the chunks of one peer together in the memory of channels. Chunks may be hostile: nothing
/// is written outside a slot, and no memory is used beyond the channels'.
class Inbox final : public Sink {
 public:
  struct Counts {
    std::uint64_t messages = 0;
    /// Messages whose first chunk was refused: no free slot, too long for one, too late, or
    /// malformed.
    std::uint64_t rejected = 0;
    /// Messages of which only some chunks came before another message began, or their sender was
    /// gone.
    std::uint64_t abandoned = 0;
    /// Numbers of messages that were left out between messages that came.
    std::uint64_t missing = 0;
  };

  /// `deliver` gets every whole message, and has to release its slot.
  using Deliver = std::function<void(Item, Instant)>;

  Inbox(PeerIndex peer, std::span<const ReceiveDescription> receives,
        std::vector<Channel>& channels, Deliver deliver);

  Placement place(const Chunk& chunk) override;
  void arrived(const Chunk& chunk, Instant now) override;
  void restarted() override;

  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Stream {
    std::uint32_t number = 0;
    ChannelIndex channel;
    NumberWindow delivered;
    /// The message that is being put together.
    std::uint64_t message = 0;
    std::uint32_t message_bytes = 0;
    std::uint32_t filled = 0;
    std::optional<std::uint32_t> slot;
  };

  Stream* find(std::uint32_t number);
  void free_slot(Stream& stream);
  Placement reject(const Chunk& chunk);

  std::vector<Stream> streams_;
  std::vector<Channel>& channels_;
  Deliver deliver_;
  Counts counts_;
};

}  // namespace takt::link
