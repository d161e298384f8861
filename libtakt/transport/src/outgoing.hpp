#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "packet_set.hpp"
#include "takt/link/transport.hpp"
#include "takt/time/time.hpp"
#include "wire.hpp"

namespace takt::transport {

/// The chunk that is being sent: first all its packets, then, in rounds, those that the peer lacks.
/// The last packet of a round asks for an answer, and is repeated until there is one.
class Outgoing {
 public:
  /// Begins a chunk with the next sequence number.
  void begin(const link::Chunk& chunk, std::span<const std::byte> bytes);
  /// A new session: numbers begin again.
  void reset();

  [[nodiscard]] bool active() const { return active_; }
  /// Whether packets of this round are left to send.
  [[nodiscard]] bool has_packet() const { return active_ && next_ < present_.size(); }
  /// The next packet of this round, and its payload.
  [[nodiscard]] wire::Data packet() const;
  [[nodiscard]] std::span<const std::byte> payload() const;
  [[nodiscard]] bool repeats() const { return round_ > 0; }
  /// The next packet was sent.
  void sent(Instant now);

  /// When the answer is overdue.
  [[nodiscard]] std::optional<Instant> overdue() const { return overdue_; }
  /// Begins a round of the last missing packet only, which asks again.
  void ask();

  /// Takes an answer of the peer; returns the outcome, if the answer ends the chunk.
  std::optional<link::Outcome> hear(const wire::Answer& answer, Instant now);

 private:
  [[nodiscard]] bool is_last(std::size_t packet) const {
    return present_.missing(packet + 1) == present_.size();
  }

  link::Chunk chunk_;
  std::span<const std::byte> bytes_;
  PacketSet present_;
  bool active_ = false;
  std::uint64_t sequence_ = 0;
  std::uint16_t round_ = 0;
  std::size_t next_ = 0;
  std::optional<Instant> overdue_;
  Instant asked_{};
  /// How long an answer takes, smoothed, and how long to wait for this one.
  Duration answer_time_ = std::chrono::milliseconds(5);
  Duration answer_timeout_{};
};

}  // namespace takt::transport
