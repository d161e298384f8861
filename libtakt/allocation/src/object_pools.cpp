#include "takt/allocation/object_pools.hpp"

#include <algorithm>
#include <bit>

namespace takt::allocation {

namespace {

bool is_small(Bytes bytes) { return bytes <= ObjectPools::slab_bytes / 2; }

std::size_t size_index_of(Bytes bytes) {
  return floor_log2(std::bit_ceil(std::max(bytes, ObjectPools::smallest))) -
         floor_log2(ObjectPools::smallest);
}

}  // namespace

std::optional<Offset> ObjectPools::allocate(Bytes bytes) {
  if (bytes == 0 || !is_small(bytes)) return large_->allocate(bytes);
  const std::size_t index = size_index_of(bytes);
  if (with_room_[index].empty() && !add_slab(index)) return std::nullopt;
  const Offset offset = with_room_[index].back();
  Slab& slab = slabs_.at(offset);
  const int object = std::countr_zero(slab.free);
  slab.free &= slab.free - 1;
  if (slab.free == 0) unlist(slab);
  return offset + static_cast<Bytes>(object) * size(index);
}

bool ObjectPools::add_slab(std::size_t size_index) {
  const auto offset = large_->allocate(slab_bytes);
  if (!offset) return false;
  Slab& slab = slabs_[*offset];
  slab = {.size_index = size_index, .free = all(size_index), .place = 0};
  list(*offset, slab);
  return true;
}

void ObjectPools::list(Offset offset, Slab& slab) {
  slab.place = with_room_[slab.size_index].size();
  with_room_[slab.size_index].push_back(offset);
}

void ObjectPools::unlist(const Slab& slab) {
  std::vector<Offset>& listed = with_room_[slab.size_index];
  slabs_.at(listed.back()).place = slab.place;
  listed[slab.place] = listed.back();
  listed.pop_back();
}

bool ObjectPools::release(Offset offset) {
  const auto found = slabs_.find(offset / slab_bytes * slab_bytes);
  if (found == slabs_.end()) return large_->release(offset);
  auto& [start, slab] = *found;
  const Bytes within = offset - start;
  if (within % size(slab.size_index) != 0) return false;
  const std::uint64_t bit = std::uint64_t{1} << (within / size(slab.size_index));
  if ((slab.free & bit) != 0) return false;
  if (slab.free == 0) list(start, slab);
  slab.free |= bit;
  if (slab.free != all(slab.size_index)) return true;
  unlist(slab);
  const Offset empty = start;
  slabs_.erase(found);
  return large_->release(empty);
}

bool ObjectPools::grow_for(Bytes bytes, const Growth& growth) {
  return large_->grow_for(is_small(bytes) ? slab_bytes : bytes, growth);
}

std::vector<Block> ObjectPools::free_blocks() const {
  std::vector<Block> blocks = large_->free_blocks();
  for (const auto& [start, slab] : slabs_) {
    for (std::uint64_t left = slab.free; left != 0; left &= left - 1) {
      const auto object = static_cast<Bytes>(std::countr_zero(left));
      const Bytes bytes = size(slab.size_index);
      blocks.push_back({.offset = start + object * bytes, .bytes = bytes});
    }
  }
  std::ranges::sort(blocks, {}, &Block::offset);
  return blocks;
}

Bytes ObjectPools::own_bytes() const {
  // A node of the map has a pointer and what it holds.
  Bytes bytes = large_->own_bytes() + slabs_.bucket_count() * sizeof(void*) +
                slabs_.size() * (sizeof(Slabs::value_type) + sizeof(void*));
  for (const auto& listed : with_room_) bytes += listed.capacity() * sizeof(Offset);
  return bytes;
}

}  // namespace takt::allocation
