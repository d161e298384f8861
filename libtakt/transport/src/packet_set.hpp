#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "takt/transport/connection.hpp"
#include "wire.hpp"

namespace takt::transport {

/// The packets of a chunk that have arrived, as they stand on the wire: a bit for each, the lowest
/// first.
class PacketSet {
 public:
  static constexpr std::size_t most = wire::packets_of(Connection::most_bytes);

  /// Empties the set, for a chunk of so many packets.
  void reset(std::size_t packets) {
    bits_ = {};
    packets_ = packets;
    present_ = 0;
  }
  [[nodiscard]] bool has(std::size_t packet) const {
    return (std::to_integer<unsigned>(bits_[packet / 8]) >> (packet % 8) & 1U) != 0;
  }
  void add(std::size_t packet) {
    if (has(packet)) return;
    bits_[packet / 8] |= std::byte{1} << (packet % 8);
    ++present_;
  }
  /// Adds the packets that the peer says it has. Bits beyond this set are ignored, missing ones are
  /// 0.
  void add(std::span<const std::byte> present) {
    for (std::size_t packet = 0; packet < packets_ && packet / 8 < present.size(); ++packet) {
      if ((std::to_integer<unsigned>(present[packet / 8]) >> (packet % 8) & 1U) != 0) add(packet);
    }
  }
  [[nodiscard]] bool complete() const { return present_ == packets_; }
  [[nodiscard]] std::size_t size() const { return packets_; }

  /// The first missing packet from `from` on; size(): none.
  [[nodiscard]] std::size_t missing(std::size_t from) const {
    while (from < packets_ && has(from)) ++from;
    return from;
  }

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::span(bits_).first((packets_ + 7) / 8);
  }

 private:
  std::array<std::byte, (most + 7) / 8> bits_{};
  std::size_t packets_ = 0;
  std::size_t present_ = 0;
};

}  // namespace takt::transport
