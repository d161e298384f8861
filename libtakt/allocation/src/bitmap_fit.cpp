#include "takt/allocation/bitmap_fit.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace takt::allocation {

void Bits::resize(std::size_t size, bool value) {
  words_.resize((size + 63) / 64);
  const std::size_t old = std::exchange(size_, size);
  if (size > old) fill(old, size, value);
}

void Bits::fill(std::size_t from, std::size_t to, bool value) {
  while (from < to) {
    const std::size_t count = std::min(to - from, 64 - from % 64);
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - count) << (from % 64);
    std::uint64_t& word = words_[from / 64];
    word = value ? word | mask : word & ~mask;
    from += count;
  }
}

std::size_t Bits::find(bool value, std::size_t from, std::size_t to) const {
  while (from < to) {
    const std::uint64_t word = value ? words_[from / 64] : ~words_[from / 64];
    const std::uint64_t rest = word >> (from % 64);
    if (rest != 0) return std::min(to, from + static_cast<std::size_t>(std::countr_zero(rest)));
    from += 64 - from % 64;
  }
  return to;
}

BitmapFit::BitmapFit(Bytes range, Bytes unit) : unit_(unit) {
  assert(std::has_single_bit(unit) && range % unit == 0 && range <= largest);
  free_.resize(range / unit, true);
  ends_.resize(range / unit, false);
}

std::optional<Offset> BitmapFit::allocate(Bytes bytes) {
  if (!is_valid(bytes)) return std::nullopt;
  const std::size_t units = units_of(bytes);
  std::size_t from = free_.find(true, 0, free_.size());
  while (free_.size() - from >= units) {
    const std::size_t end = free_.find(false, from, from + units);
    if (end - from == units) {
      free_.fill(from, end, false);
      ends_.fill(end - 1, end, true);
      return from * unit_;
    }
    from = free_.find(true, end, free_.size());
  }
  return std::nullopt;
}

bool BitmapFit::release(Offset offset) {
  const std::size_t from = offset / unit_;
  if (offset % unit_ != 0 || from >= free_.size() || free_[from]) return false;
  const bool is_start = from == 0 || free_[from - 1] || ends_[from - 1];
  if (!is_start) return false;
  const std::size_t last = ends_.find(true, from, ends_.size());
  ends_.fill(last, last + 1, false);
  free_.fill(from, last + 1, true);
  return true;
}

bool BitmapFit::grow_for(Bytes bytes, const Growth& growth) {
  std::size_t tail = free_.size();
  while (tail > 0 && free_[tail - 1]) --tail;
  const auto range = growth.range_of(tail * unit_ + round_up(bytes, unit_));
  if (!range) return false;
  const std::size_t units = std::max(free_.size(), *range / unit_);
  free_.resize(units, true);
  ends_.resize(units, false);
  return true;
}

std::vector<Block> BitmapFit::free_blocks() const {
  std::vector<Block> blocks;
  for (std::size_t from = free_.find(true, 0, free_.size()); from < free_.size();) {
    const std::size_t end = free_.find(false, from, free_.size());
    blocks.push_back({.offset = from * unit_, .bytes = (end - from) * unit_});
    from = free_.find(true, end, free_.size());
  }
  return blocks;
}

}  // namespace takt::allocation
