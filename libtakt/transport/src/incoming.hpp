#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "packet_set.hpp"
#include "takt/link/transport.hpp"
#include "wire.hpp"

namespace takt::transport {

/// The chunk that is being received, and what became of the one before.
class Incoming {
 public:
  /// A new session: numbers begin again.
  void reset();

  struct Reaction {
    /// No correct peer sends such a packet.
    bool malformed = false;
    std::optional<wire::Answer> answer{};
  };
  /// Takes a packet in.
  Reaction take(const wire::Data& data, std::span<const std::byte> payload, link::Sink& sink,
                Instant now);

 private:
  [[nodiscard]] wire::Answer answer(std::uint16_t round) const;

  std::uint64_t sequence_ = 0;
  link::Chunk chunk_;
  std::span<std::byte> memory_;
  PacketSet present_;
  wire::Status status_ = wire::Status::complete;
};

}  // namespace takt::transport
