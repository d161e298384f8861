#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

namespace takt::allocation {

using Offset = std::uint64_t;
using Bytes = std::uint64_t;

/// No range and no request is larger, so that sums of a few do not overflow.
inline constexpr Bytes largest = Bytes{1} << 56;

/// A part of the range. What it means (free, in use) is up to who holds it.
struct Block {
  Offset offset = 0;
  Bytes bytes = 0;

  [[nodiscard]] Offset end() const { return offset + bytes; }
  friend bool operator==(const Block&, const Block&) = default;
};

/// How a range may grow: by whole steps, up to a limit.
struct Growth {
  Bytes step = 1;
  Bytes limit = largest;

  /// The least range of whole steps with that many bytes. None: it is beyond the limit.
  [[nodiscard]] std::optional<Bytes> range_of(Bytes bytes) const {
    const Bytes range = (bytes + step - 1) / step * step;
    return range <= limit ? std::optional(range) : std::nullopt;
  }
};

/// Gives out blocks of a range of bytes that it never reads or writes: memory of a device, which a
/// host cannot read, has no room for boundary tags (component-cps, chapter 2.2). All that it knows
/// is in memory of its own. Blocks are offsets. Not for several threads at a time.
class Allocator {
 public:
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  Allocator(Allocator&&) = delete;
  Allocator& operator=(Allocator&&) = delete;
  virtual ~Allocator() = default;

  /// A block of at least that many bytes. None: the rule finds no free block for it, or `bytes` is
  /// 0 or larger than any range.
  [[nodiscard]] virtual std::optional<Offset> allocate(Bytes bytes) = 0;
  /// Makes a block free. False, and no change: no block in use begins there.
  [[nodiscard]] virtual bool release(Offset offset) = 0;
  /// Makes the range longer at its end, so that allocate(bytes) succeeds. False, and no change: it
  /// would pass the limit.
  [[nodiscard]] virtual bool grow_for(Bytes bytes, const Growth& growth) = 0;

  /// The bytes that are managed.
  [[nodiscard]] virtual Bytes range() const = 0;
  /// In the order of their offsets.
  [[nodiscard]] virtual std::vector<Block> free_blocks() const = 0;
  /// The memory of what the allocator knows.
  [[nodiscard]] virtual Bytes own_bytes() const = 0;
};

[[nodiscard]] constexpr bool is_valid(Bytes bytes) { return bytes > 0 && bytes <= largest; }

/// `unit` is a power of two.
[[nodiscard]] constexpr Bytes round_up(Bytes bytes, Bytes unit) {
  return (bytes + unit - 1) & ~(unit - 1);
}

/// ⌊log2 bytes⌋; `bytes` is not 0.
[[nodiscard]] constexpr unsigned floor_log2(Bytes bytes) {
  assert(bytes > 0);
  return static_cast<unsigned>(std::bit_width(bytes)) - 1;
}

/// Allocates, and grows where that needs it.
[[nodiscard]] inline std::optional<Offset> allocate_or_grow(Allocator& allocator, Bytes bytes,
                                                            const Growth& growth) {
  auto offset = allocator.allocate(bytes);
  if (!offset && is_valid(bytes) && allocator.grow_for(bytes, growth)) {
    offset = allocator.allocate(bytes);
  }
  return offset;
}

}  // namespace takt::allocation
