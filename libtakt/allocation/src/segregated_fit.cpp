#include "takt/allocation/segregated_fit.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace takt::allocation {

SegregatedFit::SegregatedFit(SizeClasses classes, Bytes range, Bytes granule)
    : classes_(classes), granule_(granule), table_(classes.of_block(largest) + 1) {
  assert(std::has_single_bit(granule) && range % granule == 0 && range <= largest);
  range_ = range;
  if (range == 0) return;
  last_ = table_.insert({.offset = 0, .bytes = range});
  push(last_);
}

// Algorithm 4. As printed it does not consult the bitmap, leaves the bit of a list that it empties
// and the back link of the list's new head, and does not ask whether a block follows.
std::optional<Offset> SegregatedFit::allocate(Bytes bytes) {
  if (!is_valid(bytes)) return std::nullopt;
  bytes = round_up(bytes, granule_);
  const BlockTable::List list = table_.first_list(classes_.of_request(bytes));
  if (list == NumberSet::limit) return std::nullopt;
  const Index index = table_.first(list);
  table_.unlink(index);
  if (table_[index].block.bytes > bytes) split(index, bytes);
  return table_[index].block.offset;
}

/// Makes what a block in use has beyond `bytes` a free block.
void SegregatedFit::split(Index index, Bytes bytes) {
  Block& block = table_[index].block;
  const Block rest{.offset = block.offset + bytes, .bytes = block.bytes - bytes};
  block.bytes = bytes;
  const Index behind = table_.insert(rest, index);
  const Index follower = table_.find(rest.end());
  if (follower != BlockTable::none) table_[follower].before = behind;
  if (last_ == index) last_ = behind;
  push(behind);
}

bool SegregatedFit::release(Offset offset) {
  const Index index = table_.find(offset);
  if (index == BlockTable::none || is_free(index)) return false;
  make_free(index);
  return true;
}

// Algorithm 5. As printed it leaves the block before it in the list of its old size, looks for the
// class of the freed block instead, and rounds that up.
void SegregatedFit::make_free(Index index) {
  const Index right = table_.find(table_[index].block.end());
  if (is_free(right)) {
    table_.unlink(right);
    index = unite(index, right);
  }
  const Index left = table_[index].before;
  if (is_free(left)) {
    table_.unlink(left);
    index = unite(left, index);
  }
  push(index);
}

/// Makes two neighbours in use one.
SegregatedFit::Index SegregatedFit::unite(Index left, Index right) {
  table_[left].block.bytes += table_[right].block.bytes;
  const Index follower = table_.find(table_[right].block.end());
  if (follower != BlockTable::none) table_[follower].before = left;
  if (last_ == right) last_ = left;
  table_.erase(right);
  return left;
}

bool SegregatedFit::grow_for(Bytes bytes, const Growth& growth) {
  const Bytes needed = classes_.rounded(round_up(bytes, granule_));
  const auto range =
      growth.range_of((is_free(last_) ? table_[last_].block.offset : range_) + needed);
  if (!range) return false;
  if (*range <= range_) return true;
  const Block added{.offset = range_, .bytes = *range - range_};
  range_ = *range;
  last_ = table_.insert(added, last_);
  make_free(last_);
  return true;
}

std::vector<BlockTable::List> SegregatedFit::filled_classes() const {
  std::vector<BlockTable::List> filled;
  for (auto list = table_.first_list(0); list != NumberSet::limit;
       list = table_.first_list(list + 1)) {
    filled.push_back(list);
  }
  return filled;
}

}  // namespace takt::allocation
