#include "exploration/zone.hpp"

#include <utility>

namespace takt::analysis {

void Zone::resize(std::size_t size) {
  constexpr std::size_t spare = 8;
  if (size > stride_) {
    const std::size_t stride = size_ == 0 ? size : size + spare;
    std::vector<Time> bounds(stride * stride, no_limit);
    for (std::size_t a = 0; a < size_; ++a) {
      std::copy_n(bounds_.begin() + static_cast<std::ptrdiff_t>(a * stride_), size_,
                  bounds.begin() + static_cast<std::ptrdiff_t>(a * stride));
    }
    bounds_ = std::move(bounds);
    stride_ = stride;
  }
  for (; size_ < size; ++size_) bounds_[size_ * stride_ + size_] = 0;
}

bool Zone::limit(Column a, Column b, Time bound) {
  if (bound >= most(a, b)) return true;
  if (most(b, a) < no_limit && most(b, a) + bound < 0) return false;
  const Time* after = &bounds_[b * stride_];
  for (std::size_t x = 0; x < size_; ++x) {
    Time* row = &bounds_[x * stride_];
    if (row[a] >= no_limit) continue;
    const Time to_b = row[a] + bound;
    for (std::size_t y = 0; y < size_; ++y) {
      if (after[y] < no_limit) row[y] = std::min(row[y], to_b + after[y]);
    }
  }
  return true;
}

void Zone::swap(Column a, Column b) {
  for (std::size_t x = 0; x < size_; ++x) {
    std::swap(bounds_[a * stride_ + x], bounds_[b * stride_ + x]);
  }
  for (std::size_t x = 0; x < size_; ++x) {
    std::swap(bounds_[x * stride_ + a], bounds_[x * stride_ + b]);
  }
}

void Zone::shift(Column a, Time shift) {
  for (std::size_t x = 0; x < size_; ++x) {
    if (x == a) continue;
    if (Time& bound = bounds_[a * stride_ + x]; bound < no_limit) bound += shift;
    if (Time& bound = bounds_[x * stride_ + a]; bound < no_limit) bound -= shift;
  }
}

Zone Zone::of(std::span<const Column> columns) const {
  Zone zone;
  zone.size_ = zone.stride_ = columns.size();
  zone.bounds_.reserve(columns.size() * columns.size());
  for (const Column a : columns) {
    for (const Column b : columns) zone.bounds_.push_back(most(a, b));
  }
  return zone;
}

}  // namespace takt::analysis
