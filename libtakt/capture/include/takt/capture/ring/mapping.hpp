#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"
#include "takt/capture/ring/layout.hpp"

namespace takt::capture::ring {

/// A ring of a traced process, mapped as long as this object lives. The memory is shared with a
/// process that may be broken or malicious: whatever it holds is to be copied before it is checked.
class Mapping {
 public:
  /// Maps the memory that is open as `memory` (which stays the caller's). Errors: not a ring, or of
  /// another version of Takt.
  [[nodiscard]] static Result<Mapping> of(int memory);

  Mapping(Mapping&& other) noexcept
      : ring_(std::exchange(other.ring_, nullptr)),
        slot_count_(other.slot_count_),
        gid_size_(other.gid_size_) {}
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping();

  [[nodiscard]] Header* ring() const { return ring_; }
  /// A power of two.
  [[nodiscard]] std::uint64_t slot_count() const { return slot_count_; }
  /// Bytes of the gids in its events: 16 or 24.
  [[nodiscard]] std::uint32_t gid_size() const { return gid_size_; }
  [[nodiscard]] std::byte* slots() const {
    return reinterpret_cast<std::byte*>(ring_) + slots_offset;
  }
  [[nodiscard]] const std::byte* log() const {
    return reinterpret_cast<const std::byte*>(ring_) + log_offset(slot_count_);
  }

 private:
  Mapping(Header* ring, std::uint64_t slots) : ring_(ring), slot_count_(slots) {}

  Header* ring_;
  std::uint64_t slot_count_;
  std::uint32_t gid_size_ = 0;
};

/// Makes this process the ring's recorder, which reads it or has put its selection there, as long
/// as the descriptor lives, whatever ends the process. None: another recorder has the ring.
[[nodiscard]] Descriptor lock_ring(int memory);

/// Copies what another process may change meanwhile: every word is read once, so that what is
/// checked is what is used.
template <typename Value>
requires std::is_trivially_copyable_v<Value> &&(sizeof(Value) % sizeof(std::uint64_t) == 0)
    [[nodiscard]] Value copy_shared(const void* shared) {
  std::array<std::uint64_t, sizeof(Value) / sizeof(std::uint64_t)> words{};
  const auto* source = static_cast<const std::uint64_t*>(shared);
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = __atomic_load_n(source + i, __ATOMIC_RELAXED);
  }
  return std::bit_cast<Value>(words);
}

/// Recognises times in the future, which only a broken process writes. Reads the clock only for a
/// time that is later than all before.
class Past {
 public:
  /// Whether `time` (CLOCK_MONOTONIC, nanoseconds) is not in the future.
  [[nodiscard]] bool has(std::uint64_t time);

 private:
  std::uint64_t latest_ = 0;
};

/// Whether a payload is exactly the fields of the event with this number.
[[nodiscard]] bool well_formed(std::uint8_t event, std::size_t gid_size,
                               std::span<const std::byte> payload);

}  // namespace takt::capture::ring
