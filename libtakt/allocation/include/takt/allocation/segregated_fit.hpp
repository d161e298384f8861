#pragma once

#include <optional>
#include <vector>

#include "takt/allocation/allocator.hpp"
#include "takt/allocation/block_table.hpp"

namespace takt::allocation {

/// Classes of sizes: each power of two, cut into 2^bits equal parts. No bits: the classes of
/// segregated fit. Five: those of TLSF, whose two levels are one number here.
struct SizeClasses {
  unsigned bits = 0;

  /// The class that a free block of that size is in.
  [[nodiscard]] constexpr BlockTable::List of_block(Bytes bytes) const {
    const unsigned power = floor_log2(bytes);
    const Bytes rest = bytes - (Bytes{1} << power);
    const Bytes part = power >= bits ? rest >> (power - bits) : rest << (bits - power);
    return static_cast<BlockTable::List>((power << bits) + part);
  }
  /// The least size of which every block is found by a request for `bytes`.
  [[nodiscard]] constexpr Bytes rounded(Bytes bytes) const {
    const unsigned power = floor_log2(bytes);
    return power > bits ? round_up(bytes, Bytes{1} << (power - bits)) : bytes;
  }
  /// The least class of which every block has that size.
  [[nodiscard]] constexpr BlockTable::List of_request(Bytes bytes) const {
    return of_block(rounded(bytes));
  }
};

inline constexpr SizeClasses powers_of_two{.bits = 0};
inline constexpr SizeClasses tlsf{.bits = 5};

/// Lists of free blocks by classes of sizes (component-cps, section 2.2.4, Algorithms 4 and 5, and
/// TLSF). A request takes the first block of the least class in which every block is large enough,
/// and gives back what is left; so a block that is just large enough may be passed over. Constant
/// time, as far as BlockTable takes constant time.
class SegregatedFit final : public Allocator {
 public:
  /// `granule`, a power of two: offsets and sizes are multiples of it, and so is `range`.
  SegregatedFit(SizeClasses classes, Bytes range, Bytes granule);

  [[nodiscard]] std::optional<Offset> allocate(Bytes bytes) override;
  [[nodiscard]] bool release(Offset offset) override;
  [[nodiscard]] bool grow_for(Bytes bytes, const Growth& growth) override;
  [[nodiscard]] Bytes range() const override { return range_; }
  [[nodiscard]] std::vector<Block> free_blocks() const override { return table_.free_blocks(); }
  [[nodiscard]] Bytes own_bytes() const override { return table_.own_bytes(); }

  /// No more than this many blocks are to be had without a pause.
  void reserve(std::size_t blocks) { table_.reserve(blocks); }
  /// The classes that have free blocks.
  [[nodiscard]] std::vector<BlockTable::List> filled_classes() const;

 private:
  using Index = BlockTable::Index;

  [[nodiscard]] bool is_free(Index index) {
    return index != BlockTable::none && table_[index].list != BlockTable::in_use;
  }
  void push(Index index) { table_.push(index, classes_.of_block(table_[index].block.bytes)); }
  void split(Index index, Bytes bytes);
  [[nodiscard]] Index unite(Index left, Index right);
  void make_free(Index index);

  SizeClasses classes_;
  Bytes range_ = 0;
  Bytes granule_;
  Index last_ = BlockTable::none;  // the block at the end of the range
  BlockTable table_;
};

}  // namespace takt::allocation
