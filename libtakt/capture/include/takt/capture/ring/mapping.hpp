#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

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
      : ring_(std::exchange(other.ring_, nullptr)), gid_size_(other.gid_size_) {}
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping();

  [[nodiscard]] Header* ring() const { return ring_; }
  /// Bytes of the gids in its events: 16 or 24.
  [[nodiscard]] std::uint32_t gid_size() const { return gid_size_; }
  [[nodiscard]] std::byte* slots() const {
    return reinterpret_cast<std::byte*>(ring_) + slots_offset;
  }
  [[nodiscard]] const std::byte* log() const {
    return reinterpret_cast<const std::byte*>(ring_) + log_offset;
  }

 private:
  explicit Mapping(Header* ring) : ring_(ring) {}

  Header* ring_;
  std::uint32_t gid_size_ = 0;
};

/// Whether a payload is exactly the fields of the event with this number.
[[nodiscard]] bool well_formed(std::uint8_t event, std::size_t gid_size,
                               std::span<const std::byte> payload);

}  // namespace takt::capture::ring
