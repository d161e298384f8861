#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "takt/link/transport.hpp"
#include "takt/time/time.hpp"
#include "takt/transport/key.hpp"

/// Connections between two machines for flow control, on datagrams that may be lost, duplicated,
/// changed, reordered or forged.
namespace takt::transport {

/// Sends datagrams to the peer.
class Datagrams {
 public:
  Datagrams() = default;
  Datagrams(const Datagrams&) = delete;
  Datagrams& operator=(const Datagrams&) = delete;
  virtual ~Datagrams() = default;

  /// Sends datagrams of `datagram_bytes` each; the last one may be shorter. False: there is no room
  /// at the moment, and none was sent.
  virtual bool send(std::span<const std::byte> datagrams, std::size_t datagram_bytes) = 0;
};

struct Settings {
  /// A peer from which nothing has come for this long is lost.
  Duration silence = std::chrono::seconds(1);
  /// The time between two calls of a peer that is not connected.
  Duration call = std::chrono::milliseconds(50);
  /// Packets are encrypted by AES where both processors have instructions for it; otherwise by
  /// ChaCha20.
  bool aes = true;
};

/// Counts of packets and sessions.
struct ConnectionCounts {
  std::uint64_t packets_sent = 0;
  /// The part of these that was data sent again.
  std::uint64_t packets_repeated = 0;
  std::uint64_t packets_received = 0;
  /// Received and discarded: not written by the peer, seen before, or without meaning.
  std::uint64_t forged = 0;
  std::uint64_t replayed = 0;
  std::uint64_t malformed = 0;
  /// How often a session began, and how often a peer was lost.
  std::uint64_t sessions = 0;
  std::uint64_t peers_lost = 0;
};

/// One end of a connection over datagrams. Sends one chunk after the other, each until the peer has
/// all of it. So each chunk arrives in order, whole and once, or its outcome says that it may not
/// have. The payload is written straight to the memory that the sink names. Nothing is allocated
/// after construction.
///
/// It knows no clock and no socket. All functions are for one thread.
class Connection final : public link::Transport {
 public:
  /// The longest chunk.
  static constexpr std::size_t most_bytes = std::size_t{8} << 20;

  /// `datagrams` and `sink` outlive the connection.
  Connection(const Key& key, Settings settings, Datagrams& datagrams, Instant now);
  ~Connection() override;

  /// Sets where chunks of the peer go, before the first datagram is received.
  void deliver_to(link::Sink& sink);

  void send(const link::Chunk& chunk, std::span<const std::byte> bytes, Instant now) override;
  std::optional<link::Outcome> poll(Instant now) override;
  [[nodiscard]] bool reachable() const override { return connected(); }

  /// Handles a datagram, which is decrypted in place.
  void receive(std::span<std::byte> datagram, Instant now);

  /// Does what is due; returns when it must be called again at the latest.
  Instant step(Instant now);

  /// Whether datagrams wait for room in the socket; step() sends them when there is some.
  [[nodiscard]] bool waits_for_room() const;
  [[nodiscard]] bool connected() const;
  [[nodiscard]] const ConnectionCounts& counts() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace takt::transport
