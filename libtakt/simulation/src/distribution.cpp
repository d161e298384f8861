#include "takt/simulation/distribution.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <utility>

namespace takt::simulation {

void Distribution::record(Duration value) {
  assert(value >= Duration{0});
  ++count_;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  const auto real = static_cast<double>(value.count());
  sum_ += real;
  sum_of_squares_ += real * real;
  if (std::cmp_less_equal(count_, most_values)) {
    values_.push_back(value);
    return;
  }
  for (const Duration earlier : values_) put_in_bucket(earlier);
  values_.clear();
  put_in_bucket(value);
}

void Distribution::put_in_bucket(Duration value) {
  const auto bits = static_cast<std::uint64_t>(value.count());
  const int shift = std::max(0, static_cast<int>(std::bit_width(bits)) - 1 - precision);
  auto& octave = octaves_[static_cast<std::size_t>(shift)];
  if (octave.empty()) octave.resize(2 * steps);
  ++octave[bits >> shift];
}

double Distribution::mean() const { return sum_ / static_cast<double>(count_); }

double Distribution::standard_deviation() const {
  const double variance = sum_of_squares_ / static_cast<double>(count_) - mean() * mean();
  return std::sqrt(std::max(0.0, variance));
}

Duration Distribution::quantile(double q) const {
  assert(count_ > 0 && q > 0 && q <= 1);
  const auto rank = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_)));
  if (!values_.empty()) {
    std::vector<Duration> values = values_;
    const auto chosen = values.begin() + (rank - 1);
    std::ranges::nth_element(values, chosen);
    return *chosen;
  }
  std::int64_t left = rank;
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
