#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "takt/link/transport.hpp"
#include "takt/time/time.hpp"
#include "takt/transport/key.hpp"

/// Connections between two machines for flow control, on datagrams that may be lost, doubled,
/// changed, exchanged or written by anybody.
namespace takt::transport {

/// Where datagrams go.
class Datagrams {
 public:
  Datagrams() = default;
  Datagrams(const Datagrams&) = delete;
  Datagrams& operator=(const Datagrams&) = delete;
  virtual ~Datagrams() = default;

  /// Sends datagrams of `datagram_bytes` each, of which the last may be shorter. False: there is no
  /// room at the moment, and none was sent.
  virtual bool send(std::span<const std::byte> datagrams, std::size_t datagram_bytes) = 0;
};

struct Settings {
  /// A peer that is not heard of for so long is lost.
  Duration silence = std::chrono::seconds(1);
  /// How often a peer that is not connected is called.
  Duration call = std::chrono::milliseconds(50);
  /// Packets are encrypted by AES where both processors have instructions for it; otherwise by
  /// ChaCha20.
  bool aes = true;
};

/// What came and went.
struct ConnectionCounts {
  std::uint64_t packets_sent = 0;
  /// Of these, data that was sent once more.
  std::uint64_t packets_repeated = 0;
  std::uint64_t packets_received = 0;
  /// Received and thrown away: not written by the peer, seen before, or without meaning.
  std::uint64_t forged = 0;
  std::uint64_t replayed = 0;
  std::uint64_t malformed = 0;
  /// How often a session began, and how often a peer was lost.
  std::uint64_t sessions = 0;
  std::uint64_t peers_lost = 0;
};

/// One end of a connection: a queue pair over datagrams. Sends one chunk after the other, each
/// until the peer has all of it, so that chunks arrive in order, whole and once, or with an outcome
/// that says they may not have. The payload goes straight into the memory that the sink names, and
/// nothing is allocated after construction.
///
/// It knows no clock and no socket. All functions are for one thread.
class Connection final : public link::Transport {
 public:
  /// The longest chunk.
  static constexpr std::size_t most_bytes = std::size_t{8} << 20;

  /// `datagrams` and `sink` outlive the connection.
  Connection(const Key& key, Settings settings, Datagrams& datagrams, Instant now);
  ~Connection() override;

  /// Where chunks of the peer go; set before the first datagram is received.
  void deliver_to(link::Sink& sink);

  void send(const link::Chunk& chunk, std::span<const std::byte> bytes, Instant now) override;
  std::optional<link::Outcome> poll(Instant now) override;
  [[nodiscard]] bool reachable() const override { return connected(); }

  /// A datagram, which is decrypted in place.
  void receive(std::span<std::byte> datagram, Instant now);

  /// Does what is due; returns when to be called again at the latest.
  Instant step(Instant now);

  /// Whether datagrams wait for room, after which step() sends them.
  [[nodiscard]] bool waits_for_room() const;
  [[nodiscard]] bool connected() const;
  [[nodiscard]] const ConnectionCounts& counts() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace takt::transport
