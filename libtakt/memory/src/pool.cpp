#include "takt/memory/pool.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace takt::memory {

namespace {

// Sizes are powers of two, from one page on.
constexpr std::size_t smallest = 4096;
constexpr std::size_t least_block = 65'536;

std::size_t class_of(std::size_t bytes) {
  return static_cast<std::size_t>(std::countr_zero(std::bit_ceil(std::max(bytes, smallest)))) -
         std::countr_zero(smallest);
}

}  // namespace

bool Pool::grow(std::size_t size_class) {
  if (blocks_.size() == most_blocks) return false;
  SizeClass& grown = classes_[size_class];
  const std::size_t slot_bytes = smallest << size_class;
  const std::size_t wanted = std::max({least_block / slot_bytes, grown.slots, std::size_t{1}});
  // If there is no room for as many, there may be for one.
  for (const std::size_t count : {wanted, std::size_t{1}}) {
    auto memory = OwnMemory::make(count * slot_bytes);
    if (!memory) continue;
    const auto block = static_cast<std::uint32_t>(blocks_.size());
    blocks_.push_back(std::move(*memory));
    bytes_ += count * slot_bytes;
    grown.slots += count;
    for (std::size_t index = count; index-- > 0;) {
      grown.free.push_back(static_cast<Slot>(slots_.size()));
      slots_.push_back(
          {.block = block, .uses = 0, .offset = index * slot_bytes, .size_class = size_class});
    }
    return true;
  }
  return false;
}

std::optional<Pool::Slot> Pool::take(std::size_t bytes) {
  if (bytes > smallest << (classes_.size() - 1)) return std::nullopt;
  const std::size_t size_class = class_of(bytes);
  std::vector<Slot>& free = classes_[size_class].free;
  if (free.empty() && !grow(size_class)) return std::nullopt;
  const Slot slot = free.back();  // the newest, whose content is most likely in a cache
  free.pop_back();
  slots_[slot].uses = 1;
  ++in_use_;
  return slot;
}

void Pool::give_back(Slot slot) {
  Record& record = slots_[slot];
  assert(record.uses > 0);
  if (--record.uses > 0) return;
  classes_[record.size_class].free.push_back(slot);
  --in_use_;
}

Pool::Place Pool::place(Slot slot) const {
  const Record& record = slots_[slot];
  return {
      .block = record.block,
      .offset = record.offset,
      .bytes = blocks_[record.block].bytes().subspan(record.offset, smallest << record.size_class)};
}

}  // namespace takt::memory
