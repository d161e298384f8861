#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/time/time.hpp"

namespace takt::link {

/// A piece of a message, which travels without interruption.
struct Chunk {
  /// Which sequence of messages it belongs to; messages of one stream stay in order.
  std::uint32_t stream = 0;
  /// The message's number in its stream, from 1.
  std::uint64_t message = 0;
  std::uint32_t message_bytes = 0;
  /// Where in the message it belongs.
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;

  bool operator==(const Chunk&) const = default;
};

/// The outcome of a chunk, or of a message.
enum class Outcome : std::uint8_t {
  delivered,
  /// The receiver had posted no buffer for it.
  rejected,
  /// The peer cannot be reached, or was lost while the message was under way: it may have arrived.
  lost,
  /// An operation of the sender refused it.
  refused,
  /// It had begun, waited to begin anew and gave way to newer messages.
  dropped,
};

/// The sending end of a connection that delivers chunks in order, like a queue pair of RDMA
/// (performance-engineering 5.2.1). One chunk is under way at a time. So the order of send() is the
/// order on the wire, and no chunk waits in a queue that the sender does not control.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Begins to send a chunk. The bytes must not change until poll() has returned its outcome.
  virtual void send(const Chunk& chunk, std::span<const std::byte> bytes, Instant now) = 0;

  /// Whether the peer can be reached, so that a chunk sent now may arrive.
  [[nodiscard]] virtual bool reachable() const { return true; }

  /// Returns the outcome of the chunk, once. None: it is still under way, or there is no chunk.
  virtual std::optional<Outcome> poll(Instant now) = 0;
};

/// The receiving end: where a transport puts what arrives.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  /// Says what to do with a chunk that begins to arrive.
  struct Placement {
    enum class Kind : std::uint8_t {
      /// Write it to `memory`, then tell arrived().
      accepted,
      /// Its message is here already: acknowledge it again.
      duplicate,
      /// No buffer is posted for it, or it does not follow what came before: tell the sender.
      rejected,
    };
    Kind kind = Kind::rejected;
    std::span<std::byte> memory;
  };
  virtual Placement place(const Chunk& chunk) = 0;

  /// All bytes of the chunk that place() accepted last are in the memory that it named.
  virtual void arrived(const Chunk& chunk, Instant now) = 0;

  /// The peer is another process than before: its messages are numbered from 1 again.
  virtual void restarted() = 0;
};

}  // namespace takt::link
