#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "takt/allocation/allocator.hpp"
#include "takt/allocation/block_table.hpp"

namespace takt::allocation {

/// The sizes of the blocks of a buddy system. A block of an order is cut into a left one of the
/// order before it, and a right one of the order `skipped` before that. Orders up to `skipped` are
/// not cut.
struct BuddySizes {
  std::vector<Bytes> sizes;  // by order; none is smaller than the one before it
  std::uint32_t skipped = 0;

  /// unit·2^k
  [[nodiscard]] static BuddySizes binary(Bytes unit);
  /// unit·(1, 1, 2, 3, 5, …)
  [[nodiscard]] static BuddySizes fibonacci(Bytes unit);

  /// The least order of at least that size.
  [[nodiscard]] std::uint32_t order_of(Bytes bytes) const;
  [[nodiscard]] bool is_cut(std::uint32_t order) const { return order > skipped; }
};

/// A buddy system (component-cps, section 2.2.1): a request takes a block of the least order that
/// is large enough, cut from a larger one if need be, and a free block is united with its buddy
/// alone. The first cut is that of the whole range, whose size is that of an order. Both take time
/// proportional to the number of orders. Who is whose buddy follows from the offset, so that
/// nothing is kept for it.
class Buddies final : public Allocator {
 public:
  /// Manages the largest order that `range` has room for; it must have room for one.
  Buddies(BuddySizes sizes, Bytes range);

  [[nodiscard]] std::optional<Offset> allocate(Bytes bytes) override;
  [[nodiscard]] bool release(Offset offset) override;
  [[nodiscard]] bool grow_for(Bytes bytes, const Growth& growth) override;
  [[nodiscard]] Bytes range() const override { return sizes_.sizes[top_]; }
  [[nodiscard]] std::vector<Block> free_blocks() const override { return table_.free_blocks(); }
  [[nodiscard]] Bytes own_bytes() const override {
    return table_.own_bytes() + sizes_.sizes.capacity() * sizeof(Bytes);
  }

 private:
  using Index = BlockTable::Index;
  using Order = std::uint32_t;

  struct Cut {
    Offset offset = 0;
    Order order = 0;
  };
  /// More than the Fibonacci numbers up to the largest range.
  static constexpr std::size_t most_orders = 96;

  [[nodiscard]] Order left_of(Order order) const { return order - 1; }
  [[nodiscard]] Order right_of(Order order) const { return order - 1 - sizes_.skipped; }
  [[nodiscard]] Bytes size(Order order) const { return sizes_.sizes[order]; }
  void add_free(Offset offset, Order order);
  void unite(const Block& block);

  BuddySizes sizes_;
  Order top_ = 0;  // of the whole range
  BlockTable table_;
  /// The cuts that led from the whole range to a block. unite() alone uses them.
  std::array<Cut, most_orders> cuts_;
};

/// Double buddies: two binary systems, of sizes 2^k and 3·2^k granules. A request goes to the one
/// with the smaller block that is large enough. The second one's offsets begin at `second`: it has
/// an address range of its own.
class DoubleBuddies final : public Allocator {
 public:
  static constexpr Offset second = largest;

  DoubleBuddies(Bytes range, Bytes granule);

  [[nodiscard]] std::optional<Offset> allocate(Bytes bytes) override;
  [[nodiscard]] bool release(Offset offset) override;
  [[nodiscard]] bool grow_for(Bytes bytes, const Growth& growth) override;
  /// Of both together.
  [[nodiscard]] Bytes range() const override { return powers_.range() + threes_.range(); }
  [[nodiscard]] std::vector<Block> free_blocks() const override;
  [[nodiscard]] Bytes own_bytes() const override {
    return powers_.own_bytes() + threes_.own_bytes();
  }

 private:
  [[nodiscard]] bool is_for_threes(Bytes bytes) const;

  Bytes granule_;
  Buddies powers_;
  Buddies threes_;
};

}  // namespace takt::allocation
