#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/allocation/allocator.hpp"

namespace takt::allocation {

/// A set of numbers below 4096, of which the least from one on is found in constant time.
class NumberSet {
 public:
  static constexpr std::uint32_t limit = 64 * 64;

  void insert(std::uint32_t number) {
    words_[number / 64] |= std::uint64_t{1} << (number % 64);
    used_ |= std::uint64_t{1} << (number / 64);
  }
  void remove(std::uint32_t number) {
    words_[number / 64] &= ~(std::uint64_t{1} << (number % 64));
    if (words_[number / 64] == 0) used_ &= ~(std::uint64_t{1} << (number / 64));
  }
  /// `limit` if there is none.
  [[nodiscard]] std::uint32_t first_from(std::uint32_t number) const {
    if (number >= limit) return limit;
    std::uint32_t word = number / 64;
    std::uint64_t bits = words_[word] & (~std::uint64_t{0} << (number % 64));
    if (bits == 0) {
      const std::uint64_t above = used_ & (~std::uint64_t{1} << word);
      if (above == 0) return limit;
      word = static_cast<std::uint32_t>(std::countr_zero(above));
      bits = words_[word];
    }
    return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
  }

 private:
  std::uint64_t used_ = 0;  // words that are not 0
  std::array<std::uint64_t, 64> words_{};
};

/// All blocks, free or in use, in a hash table by their offsets, with lists of free blocks threaded
/// through it (component-cps, section 2.2.2). Everything takes constant time: expected, because of
/// the hashing, and but for the insertion for which the table doubles, which reserve() prevents.
class BlockTable {
 public:
  using Index = std::uint32_t;
  using List = std::uint32_t;
  static constexpr Index none = ~Index{0};
  static constexpr List in_use = ~List{0};

  struct Entry {
    Block block;
    List list = in_use;   // that it is in, or in_use
    Index before = none;  // the block before it in memory; for the caller alone

   private:
    friend class BlockTable;
    Index next = none;      // of the list, or of the unused entries
    Index previous = none;  // of the list
    Index chain = none;     // the next of the same hash
  };

  /// `lists` is at most NumberSet::limit.
  explicit BlockTable(std::uint32_t lists) : firsts_(lists, none), chains_(smallest, none) {
    entries_.reserve(smallest);
  }

  /// Room for that many blocks.
  void reserve(std::size_t blocks);

  [[nodiscard]] Entry& operator[](Index index) { return entries_[index]; }
  /// `none` if no block begins there.
  [[nodiscard]] Index find(Offset offset) const;
  /// A block in use, at an offset at which none begins.
  Index insert(const Block& block, Index before = none);
  /// A block that is in use.
  void erase(Index index);

  /// Makes a block in use free, as the first of a list.
  void push(Index index, List list);
  /// Makes a free block one in use.
  void unlink(Index index);
  [[nodiscard]] Index first(List list) const { return firsts_[list]; }
  /// The least list from this one on that is not empty; NumberSet::limit if there is none.
  [[nodiscard]] List first_list(List from) const { return filled_.first_from(from); }

  [[nodiscard]] std::vector<Block> free_blocks() const;
  [[nodiscard]] Bytes own_bytes() const;

 private:
  static constexpr std::size_t smallest = 64;

  [[nodiscard]] std::size_t chain_of(Offset offset) const {
    // Fibonacci hashing: offsets are multiples of a granule, so their low bits are all alike.
    return (offset * 0x9E37'79B9'7F4A'7C15) >> (64 - std::countr_zero(chains_.size()));
  }

  std::vector<Entry> entries_;
  std::vector<Index> firsts_;
  std::vector<Index> chains_;  // a power of two of them
  Index unused_ = none;
  NumberSet filled_;
};

}  // namespace takt::allocation
