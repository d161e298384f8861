#include "takt/simulation/distribution.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace takt::simulation {

void Distribution::record(Duration value) {
  assert(value >= Duration{0});
  const auto bits = static_cast<std::uint64_t>(value.count());
  const int shift = std::max(0, static_cast<int>(std::bit_width(bits)) - 1 - precision);
  auto& octave = octaves_[static_cast<std::size_t>(shift)];
  if (octave.empty()) octave.resize(2 * steps);
  ++octave[bits >> shift];
  ++count_;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  const auto real = static_cast<double>(value.count());
  sum_ += real;
  sum_of_squares_ += real * real;
}

double Distribution::mean() const { return sum_ / static_cast<double>(count_); }

double Distribution::standard_deviation() const {
  const double variance = sum_of_squares_ / static_cast<double>(count_) - mean() * mean();
  return std::sqrt(std::max(0.0, variance));
}

Duration Distribution::quantile(double q) const {
  assert(count_ > 0 && q > 0 && q <= 1);
  auto left = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_)));
  for (std::size_t shift = 0; shift < octaves_.size(); ++shift) {
    for (std::size_t i = 0; i < octaves_[shift].size(); ++i) {
      left -= octaves_[shift][i];
      if (left > 0) continue;
      // The bucket's greatest value, so that a quantile is never too small.
      const auto greatest = static_cast<std::int64_t>(((i + 1) << shift) - 1);
      return std::clamp(Duration(greatest), min_, max_);
    }
  }
  return max_;
}

}  // namespace takt::simulation
