#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/link/transport.hpp"
#include "takt/time/time.hpp"

namespace takt::transport {

/// The memory that one end writes and the other reads. The bytes of the chunk follow it.
///
///   A: bytes, chunk, begun = n   B: copies, ended = n and the outcome   A: may write n + 1
struct SharedArea {
  static constexpr std::size_t line = 64;

  /// The number in the session of the newest chunk here, from 1.
  alignas(line) std::atomic<std::uint64_t> begun;
  /// That chunk: message; stream and message_bytes; offset and bytes.
  std::array<std::atomic<std::uint64_t>, 3> chunk;
  /// The number of the other end's newest chunk that has ended, times 2, and whether it was
  /// rejected.
  alignas(line) std::atomic<std::uint64_t> ended;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "other processes use them as well");

/// One session of two ends that each write an area and read the other's, or a copy of it. The
/// memory that is read may change at any time, so each number is read once and then checked.
class Exchange {
 public:
  /// Both are at least as large as a SharedArea, and aligned like one. `mine` has been cleared.
  Exchange(std::span<std::byte> mine, std::span<const std::byte> theirs);

  /// Prepares an area for a new session, before the peer may look at it.
  static void clear(std::span<std::byte> mine);

  /// Begins to send a chunk; the one before has ended.
  void begin(const link::Chunk& chunk, std::span<const std::byte> bytes);
  [[nodiscard]] bool active() const { return active_; }
  /// The outcome of the chunk that was begun, once.
  std::optional<link::Outcome> ended();

  enum class Taken : std::uint8_t { nothing, chunk, malformed };
  /// Takes the peer's next chunk, if it has begun one.
  Taken take(link::Sink& sink, Instant now);

 private:
  SharedArea* mine_;
  const SharedArea* theirs_;
  std::span<std::byte> my_bytes_;
  std::span<const std::byte> their_bytes_;
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;
  bool active_ = false;
};

}  // namespace takt::transport
