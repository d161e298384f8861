#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "takt/allocation/allocator.hpp"

namespace takt::allocation {

/// Blocks by their offsets in one array (component-cps, section 2.2.2): inserting and removing take
/// time proportional to their number, searching its logarithm.
class SortedArray {
 public:
  using Position = std::size_t;

  [[nodiscard]] Position begin() const { return 0; }
  [[nodiscard]] Position end() const { return blocks_.size(); }
  [[nodiscard]] Position next(Position position) const { return position + 1; }
  [[nodiscard]] Position previous(Position position) const { return position - 1; }
  [[nodiscard]] Block& at(Position position) { return blocks_[position]; }

  /// The block with the largest offset up to this one; end() if there is none.
  [[nodiscard]] Position search(Offset offset) const {
    const auto after = std::ranges::upper_bound(blocks_, offset, {}, &Block::offset);
    return after == blocks_.begin() ? end() : static_cast<Position>(after - blocks_.begin()) - 1;
  }
  void insert(const Block& block) {
    blocks_.insert(std::ranges::upper_bound(blocks_, block.offset, {}, &Block::offset), block);
  }
  void remove(Position position) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(position));
  }

  [[nodiscard]] std::optional<Block> last() const {
    return blocks_.empty() ? std::nullopt : std::optional(blocks_.back());
  }
  [[nodiscard]] std::vector<Block> blocks() const { return blocks_; }
  [[nodiscard]] Bytes own_bytes() const { return blocks_.capacity() * sizeof(Block); }

 private:
  std::vector<Block> blocks_;
};

}  // namespace takt::allocation
