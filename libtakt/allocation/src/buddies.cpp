#include "takt/allocation/buddies.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace takt::allocation {

BuddySizes BuddySizes::binary(Bytes unit) {
  BuddySizes made;
  for (Bytes size = unit; size <= largest; size *= 2) made.sizes.push_back(size);
  return made;
}

BuddySizes BuddySizes::fibonacci(Bytes unit) {
  BuddySizes made{.sizes = {}, .skipped = 1};
  for (Bytes size = unit, next = unit; size <= largest; size = std::exchange(next, size + next)) {
    made.sizes.push_back(size);
  }
  return made;
}

std::uint32_t BuddySizes::order_of(Bytes bytes) const {
  return static_cast<std::uint32_t>(std::ranges::lower_bound(sizes, bytes) - sizes.begin());
}

Buddies::Buddies(BuddySizes sizes, Bytes range)
    : sizes_(std::move(sizes)), table_(static_cast<std::uint32_t>(sizes_.sizes.size())) {
  assert(sizes_.sizes.size() <= most_orders && range >= size(sizes_.skipped) && range <= largest);
  top_ = sizes_.order_of(range + 1) - 1;
  add_free(0, top_);
}

void Buddies::add_free(Offset offset, Order order) {
  table_.push(table_.insert({.offset = offset, .bytes = size(order)}), order);
}

std::optional<Offset> Buddies::allocate(Bytes bytes) {
  if (!is_valid(bytes)) return std::nullopt;
  const Order wanted = sizes_.order_of(bytes);
  Order order = table_.first_list(wanted);
  if (order > top_) return std::nullopt;
  const Index index = table_.first(order);
  table_.unlink(index);
  Offset offset = table_[index].block.offset;
  table_.erase(index);
  // The smaller half where that is enough.
  while (order > wanted && sizes_.is_cut(order)) {
    const Offset middle = offset + size(left_of(order));
    if (right_of(order) >= wanted) {
      add_free(offset, left_of(order));
      offset = middle;
      order = right_of(order);
    } else {
      add_free(middle, right_of(order));
      order = left_of(order);
    }
  }
  table_.insert({.offset = offset, .bytes = size(order)});
  return offset;
}

bool Buddies::release(Offset offset) {
  const Index index = table_.find(offset);
  if (index == BlockTable::none || table_[index].list != BlockTable::in_use) return false;
  const Block block = table_[index].block;
  table_.erase(index);
  unite(block);
  return true;
}

/// Adds a free block, united with its buddy, and that with its own, as far as they are free.
void Buddies::unite(const Block& block) {
  std::size_t count = 0;
  Cut at{.offset = 0, .order = top_};
  while (at.offset != block.offset || size(at.order) != block.bytes) {
    cuts_[count++] = at;
    const Offset middle = at.offset + size(left_of(at.order));
    at =
        block.offset < middle ? Cut{at.offset, left_of(at.order)} : Cut{middle, right_of(at.order)};
  }
  while (count-- > 0) {
    const Cut& cut = cuts_[count];
    const Offset middle = cut.offset + size(left_of(cut.order));
    const bool is_left = at.offset < middle;
    const Order order = is_left ? right_of(cut.order) : left_of(cut.order);
    const Index buddy = table_.find(is_left ? middle : cut.offset);
    if (buddy == BlockTable::none || table_[buddy].list != order) break;
    table_.unlink(buddy);
    table_.erase(buddy);
    at = cut;
  }
  add_free(at.offset, at.order);
}

/// The range becomes the left half of a larger one, until a right half is large enough.
bool Buddies::grow_for(Bytes bytes, const Growth& growth) {
  const Order wanted = sizes_.order_of(bytes);
  if (wanted >= sizes_.sizes.size()) return false;
  if (table_.first_list(wanted) <= top_) return true;
  Order top = top_ + 1;
  while (top < sizes_.sizes.size() && right_of(top) < wanted) ++top;
  if (top >= sizes_.sizes.size() || !growth.range_of(size(top))) return false;
  while (top_ < top) {
    const Offset end = range();
    ++top_;
    unite({.offset = end, .bytes = size(right_of(top_))});
  }
  return true;
}

DoubleBuddies::DoubleBuddies(Bytes range, Bytes granule)
    : granule_(granule),
      powers_(BuddySizes::binary(granule), range / 2),
      threes_(BuddySizes::binary(3 * granule), range / 2) {
  assert(std::has_single_bit(granule));
}

/// Whether the least 3·2^k granules are fewer than the least 2^k.
bool DoubleBuddies::is_for_threes(Bytes bytes) const {
  const Bytes power = std::bit_ceil(round_up(bytes, granule_));
  return power >= 4 * granule_ && bytes <= power / 4 * 3;
}

std::optional<Offset> DoubleBuddies::allocate(Bytes bytes) {
  if (!is_valid(bytes)) return std::nullopt;
  if (!is_for_threes(bytes)) return powers_.allocate(bytes);
  const auto offset = threes_.allocate(bytes);
  return offset ? std::optional(second + *offset) : std::nullopt;
}

bool DoubleBuddies::release(Offset offset) {
  return offset < second ? powers_.release(offset) : threes_.release(offset - second);
}

bool DoubleBuddies::grow_for(Bytes bytes, const Growth& growth) {
  Buddies& grown = is_for_threes(bytes) ? threes_ : powers_;
  const Bytes other = range() - grown.range();
  if (other > growth.limit) return false;
  return grown.grow_for(bytes, {.step = growth.step, .limit = growth.limit - other});
}

std::vector<Block> DoubleBuddies::free_blocks() const {
  std::vector<Block> blocks = powers_.free_blocks();
  for (const Block& block : threes_.free_blocks()) {
    blocks.push_back({.offset = second + block.offset, .bytes = block.bytes});
  }
  return blocks;
}

}  // namespace takt::allocation
