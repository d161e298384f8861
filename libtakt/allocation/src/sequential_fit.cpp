#include "takt/allocation/sequential_fit.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace takt::allocation {

template <typename List>
SequentialFit<List>::SequentialFit(Fit fit, Bytes range, Bytes granule)
    : fit_(fit), range_(range), granule_(granule) {
  assert(std::has_single_bit(granule) && range % granule == 0 && range <= largest);
  if (range > 0) free_.insert({.offset = 0, .bytes = range});
}

// Algorithm 1
template <typename List>
std::optional<Offset> SequentialFit<List>::allocate(Bytes bytes) {
  if (!is_valid(bytes)) return std::nullopt;
  bytes = round_up(bytes, granule_);
  const Position chosen = choose(bytes);
  if (chosen == free_.end()) return std::nullopt;
  Block& block = free_.at(chosen);
  const Block taken{.offset = block.offset, .bytes = bytes};
  if (block.bytes > bytes) {
    block = {.offset = taken.end(), .bytes = block.bytes - bytes};
  } else {
    free_.remove(chosen);
  }
  used_.insert(taken);
  cursor_ = taken.end();
  return taken.offset;
}

template <typename List>
typename SequentialFit<List>::Position SequentialFit<List>::choose(Bytes bytes) {
  if (fit_ == Fit::best) return best(bytes);
  if (fit_ == Fit::first) return first_from(free_.begin(), free_.end(), bytes);
  // The block at the cursor may begin before it, if blocks there have merged.
  Position start = free_.search(cursor_);
  if (start == free_.end()) {
    start = free_.begin();
  } else if (free_.at(start).end() <= cursor_) {
    start = free_.next(start);
  }
  const Position found = first_from(start, free_.end(), bytes);
  if (found != free_.end()) return found;
  const Position before = first_from(free_.begin(), start, bytes);
  return before == start ? free_.end() : before;
}

template <typename List>
typename SequentialFit<List>::Position SequentialFit<List>::first_from(Position from, Position to,
                                                                       Bytes bytes) {
  while (from != to && free_.at(from).bytes < bytes) from = free_.next(from);
  return from;
}

// Algorithm 3. As printed it begins with the last block even if that is too small, which no larger
// block then replaces, and leaves the loop at an exact size without taking it.
template <typename List>
typename SequentialFit<List>::Position SequentialFit<List>::best(Bytes bytes) {
  Position found = free_.end();
  Bytes least = largest + 1;
  for (Position at = free_.begin(); at != free_.end() && least != bytes; at = free_.next(at)) {
    const Bytes size = free_.at(at).bytes;
    if (size < bytes || size >= least) continue;
    found = at;
    least = size;
  }
  return found;
}

template <typename List>
bool SequentialFit<List>::release(Offset offset) {
  const Position found = used_.search(offset);
  if (found == used_.end() || offset % granule_ != 0) return false;
  Block& block = used_.at(found);
  if (offset >= block.end()) return false;
  const Block freed{.offset = offset, .bytes = block.end() - offset};
  if (offset == block.offset) {
    used_.remove(found);
  } else {
    block.bytes = offset - block.offset;
  }
  make_free(freed);
  return true;
}

// Algorithm 2. As printed it takes overlapping blocks for adjacent ones.
template <typename List>
void SequentialFit<List>::make_free(const Block& block) {
  const Position left = free_.search(block.offset);
  const Position right = left == free_.end() ? free_.begin() : free_.next(left);
  const bool joins_left = left != free_.end() && free_.at(left).end() == block.offset;
  const bool joins_right = right != free_.end() && free_.at(right).offset == block.end();
  if (joins_left && joins_right) {
    free_.at(left).bytes += block.bytes + free_.at(right).bytes;
    free_.remove(right);
  } else if (joins_left) {
    free_.at(left).bytes += block.bytes;
  } else if (joins_right) {
    free_.at(right) = {.offset = block.offset, .bytes = block.bytes + free_.at(right).bytes};
  } else {
    free_.insert(block);
  }
}

template <typename List>
bool SequentialFit<List>::grow_for(Bytes bytes, const Growth& growth) {
  const auto tail = free_.last();
  const Offset start = tail && tail->end() == range_ ? tail->offset : range_;
  const auto range = growth.range_of(start + round_up(bytes, granule_));
  if (!range) return false;
  const Bytes old = range_;
  range_ = std::max(range_, *range);
  if (range_ > old) make_free({.offset = old, .bytes = range_ - old});
  return true;
}

template class SequentialFit<SortedArray>;
template class SequentialFit<HybridArrayList<>>;
template class SequentialFit<HybridArrayList<4>>;

}  // namespace takt::allocation
