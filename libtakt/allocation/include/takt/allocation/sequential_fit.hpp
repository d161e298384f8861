#pragma once

#include <optional>
#include <vector>

#include "takt/allocation/allocator.hpp"
#include "takt/allocation/hybrid_array_list.hpp"
#include "takt/allocation/sorted_array.hpp"

namespace takt::allocation {

/// Which of the free blocks that are large enough is taken.
enum class Fit {
  best,   // the smallest, and of these the first
  first,  // the first
  next,   // the first from where the latest block ended, around the end of the range
};

/// Sequential fits over two lists by offset, of free blocks and of those in use (component-cps,
/// section 2.2.3, Algorithms 1 to 3). `List` is a SortedArray or a HybridArrayList. Allocating may
/// look at all free blocks.
template <typename List>
class SequentialFit final : public Allocator {
 public:
  /// `granule`, a power of two: offsets and sizes are multiples of it, and so is `range`.
  SequentialFit(Fit fit, Bytes range, Bytes granule);

  [[nodiscard]] std::optional<Offset> allocate(Bytes bytes) override;
  /// Where `offset` is within a block in use, a multiple of the granule, the block ends there, and
  /// what is behind is free.
  [[nodiscard]] bool release(Offset offset) override;
  [[nodiscard]] bool grow_for(Bytes bytes, const Growth& growth) override;
  [[nodiscard]] Bytes range() const override { return range_; }
  [[nodiscard]] std::vector<Block> free_blocks() const override { return free_.blocks(); }
  [[nodiscard]] Bytes own_bytes() const override { return free_.own_bytes() + used_.own_bytes(); }

 private:
  using Position = typename List::Position;

  [[nodiscard]] Position choose(Bytes bytes);
  [[nodiscard]] Position first_from(Position from, Position to, Bytes bytes);
  [[nodiscard]] Position best(Bytes bytes);
  void make_free(const Block& block);

  Fit fit_;
  Bytes range_ = 0;
  Bytes granule_;
  Offset cursor_ = 0;  // an offset, not a position, so that it survives any change of the list
  List free_;
  List used_;
};

extern template class SequentialFit<SortedArray>;
extern template class SequentialFit<HybridArrayList<>>;
extern template class SequentialFit<HybridArrayList<4>>;  // for tests

}  // namespace takt::allocation
