#include "takt/allocation/segregated_storage.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace takt::allocation {

SegregatedStorage::SegregatedStorage(Bytes range, Bytes granule)
    : range_(range), granule_(granule), table_(floor_log2(largest) + 1) {
  assert(std::has_single_bit(granule) && range <= largest);
}

Bytes SegregatedStorage::size_of(Bytes bytes) const {
  return std::bit_ceil(std::max(bytes, granule_));
}

std::optional<Offset> SegregatedStorage::allocate(Bytes bytes) {
  if (!is_valid(bytes)) return std::nullopt;
  const Bytes size = size_of(bytes);
  const BlockTable::Index kept = table_.first(floor_log2(size));
  if (kept != BlockTable::none) {
    table_.unlink(kept);
    return table_[kept].block.offset;
  }
  if (size > range_ - fresh_) return std::nullopt;
  const Block block{.offset = fresh_, .bytes = size};
  fresh_ = block.end();
  table_.insert(block);
  return block.offset;
}

bool SegregatedStorage::release(Offset offset) {
  const BlockTable::Index index = table_.find(offset);
  if (index == BlockTable::none || table_[index].list != BlockTable::in_use) return false;
  table_.push(index, floor_log2(table_[index].block.bytes));
  return true;
}

bool SegregatedStorage::grow_for(Bytes bytes, const Growth& growth) {
  const auto range = growth.range_of(fresh_ + size_of(bytes));
  if (!range) return false;
  range_ = std::max(range_, *range);
  return true;
}

std::vector<Block> SegregatedStorage::free_blocks() const {
  std::vector<Block> blocks = table_.free_blocks();
  if (fresh_ < range_) blocks.push_back({.offset = fresh_, .bytes = range_ - fresh_});
  return blocks;
}

}  // namespace takt::allocation
