#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "takt/allocation/allocator.hpp"

namespace takt::allocation {

/// A row of bits, searched 64 at a time.
class Bits {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool operator[](std::size_t bit) const {
    return (words_[bit / 64] >> (bit % 64) & 1) != 0;
  }
  void resize(std::size_t size, bool value);
  /// Bits from `from` to before `to`.
  void fill(std::size_t from, std::size_t to, bool value);
  /// The first bit of that value from `from` to before `to`; `to` if there is none.
  [[nodiscard]] std::size_t find(bool value, std::size_t from, std::size_t to) const;
  [[nodiscard]] Bytes own_bytes() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

/// First fit over a bit for each unit, 1 where it is free (component-cps, section 2.2.2). A second
/// row of bits marks the last unit of each block in use, so that releasing needs no size. Time
/// proportional to the range to allocate, and to the block to release: for small ranges.
class BitmapFit final : public Allocator {
 public:
  /// `unit` is a power of two; `range` is a multiple of it.
  BitmapFit(Bytes range, Bytes unit);

  [[nodiscard]] std::optional<Offset> allocate(Bytes bytes) override;
  [[nodiscard]] bool release(Offset offset) override;
  [[nodiscard]] bool grow_for(Bytes bytes, const Growth& growth) override;
  [[nodiscard]] Bytes range() const override { return free_.size() * unit_; }
  [[nodiscard]] std::vector<Block> free_blocks() const override;
  [[nodiscard]] Bytes own_bytes() const override { return free_.own_bytes() + ends_.own_bytes(); }

 private:
  [[nodiscard]] std::size_t units_of(Bytes bytes) const { return round_up(bytes, unit_) / unit_; }

  Bytes unit_;
  Bits free_;
  Bits ends_;
};

}  // namespace takt::allocation
