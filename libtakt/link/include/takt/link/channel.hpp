#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "takt/base/index.hpp"
#include "takt/time/time.hpp"

namespace takt::link {

using ChannelIndex = Index<struct ChannelTag>;

/// A message in the memory of a channel.
struct Item {
  ChannelIndex channel;
  std::uint32_t slot = 0;

  bool operator==(const Item&) const = default;
};

/// Memory for messages of one kind. It is allocated once, and any number of consumers use a message
/// without copying it. A slot is free again when nobody uses its message any more.
class Channel {
 public:
  /// Room for `slots` messages of up to `bytes` each.
  Channel(std::size_t slots, std::size_t bytes);

  /// Returns a free slot, which the caller keeps until release(); none if all are in use.
  std::optional<std::uint32_t> acquire();
  void use(std::uint32_t slot) { ++slots_[slot].users; }
  void release(std::uint32_t slot);

  /// The whole memory of a slot.
  [[nodiscard]] std::span<std::byte> memory(std::uint32_t slot);

  /// The published message in a slot. It does not change while the slot is in use.
  [[nodiscard]] std::span<const std::byte> message(std::uint32_t slot) const;
  [[nodiscard]] Instant written(std::uint32_t slot) const { return slots_[slot].written; }
  /// The message's number in the channel, from 1.
  [[nodiscard]] std::uint64_t number(std::uint32_t slot) const { return slots_[slot].number; }

  /// Makes the first `bytes` of the slot the channel's newest message.
  void publish(std::uint32_t slot, std::size_t bytes, Instant now);

  /// The slot of the newest message; none before the first publish().
  [[nodiscard]] std::optional<std::uint32_t> newest() const { return newest_; }

  [[nodiscard]] std::size_t slot_bytes() const { return bytes_; }
  [[nodiscard]] std::size_t free() const { return free_.size(); }

 private:
  struct Slot {
    std::size_t bytes = 0;
    Instant written{};
    std::uint64_t number = 0;
    std::uint32_t users = 0;
  };

  std::size_t bytes_;
  std::vector<std::byte> memory_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::optional<std::uint32_t> newest_;
  std::uint64_t published_ = 0;
};

}  // namespace takt::link
