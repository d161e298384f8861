#include "takt/statistics/distribution.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace takt::statistics {

void Distribution::record(Duration value) {
  value -= offset_;
  if (count_ == 0) first_ = static_cast<double>(value.count());
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  const double difference = static_cast<double>(value.count()) - first_;
  sum_ += difference;
  sum_of_squares_ += difference * difference;
  if (count_++ < max_kept) {
    kept_.push_back(value);
  } else {
    record_in_buckets(value);
  }
}

/// Records a value when `max_kept` or more have come before it.
void Distribution::record_in_buckets(Duration value) {
  const std::uint64_t before = count_ - 1;
  if (before == max_kept) {
    for (const Duration earlier : kept_) count_in_bucket(earlier);
  }
  count_in_bucket(value);
  if ((before & (stride_ - 1)) != 0) return;
  if (kept_.size() == max_kept) {
    for (std::size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
    kept_.resize(max_kept / 2);
    stride_ *= 2;
  }
  kept_.push_back(value);
}

void Distribution::count_in_bucket(Duration value) {
  Buckets& buckets = value >= Duration{0} ? positive_ : negative_;
  const auto magnitude = value >= Duration{0} ? static_cast<std::uint64_t>(value.count())
                                              : ~static_cast<std::uint64_t>(value.count());
  const auto octave = static_cast<std::size_t>(
      std::max(0, static_cast<int>(std::bit_width(magnitude)) - 1 - precision));
  if (octave >= buckets.size()) buckets.resize(octave + 1);
  if (buckets[octave].empty()) buckets[octave].resize(2 * steps);
  ++buckets[octave][magnitude >> octave];
}

double Distribution::mean() const {
  return first_ + static_cast<double>(offset_.count()) + sum_ / static_cast<double>(count_);
}

double Distribution::standard_deviation() const {
  const double mean_difference = sum_ / static_cast<double>(count_);
  const double variance =
      sum_of_squares_ / static_cast<double>(count_) - mean_difference * mean_difference;
  return std::sqrt(std::max(0.0, variance));
}

Duration Distribution::quantile(double q) const {
  assert(count_ > 0 && q >= 0 && q <= 1);
  const auto rank = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_))));
  if (count_ > max_kept) return quantile_of_buckets(rank) + offset_;
  std::vector<Duration> values = kept_;
  const auto chosen = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(values, chosen);
  return *chosen + offset_;
}

template <typename Visit>
void Distribution::find_bucket(Visit visit) const {
  for (std::size_t octave = negative_.size(); octave-- > 0;) {
    for (std::size_t i = negative_[octave].size(); i-- > 0;) {
      const auto least_magnitude = static_cast<std::int64_t>(i << octave);
      const std::uint64_t count = negative_[octave][i];
      if (count != 0 && visit(Duration(-1 - least_magnitude), count)) return;
    }
  }
  for (std::size_t octave = 0; octave < positive_.size(); ++octave) {
    for (std::size_t i = 0; i < positive_[octave].size(); ++i) {
      const auto greatest = static_cast<std::int64_t>(((i + 1) << octave) - 1);
      const std::uint64_t count = positive_[octave][i];
      if (count != 0 && visit(Duration(greatest), count)) return;
    }
  }
}

/// A bucket stands for its greatest value, so that a quantile is never too small.
Duration Distribution::quantile_of_buckets(std::uint64_t rank) const {
  Duration found = max_;
  std::uint64_t passed = 0;
  find_bucket([&](Duration greatest, std::uint64_t count) {
    passed += count;
    if (passed < rank) return false;
    found = std::clamp(greatest, min_, max_);
    return true;
  });
  return found;
}

std::uint64_t Distribution::count_above(Duration limit) const {
  limit -= offset_;
  if (count_ == 0 || max_ <= limit) return 0;
  if (count_ <= max_kept) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(kept_, [&](Duration value) { return value > limit; }));
  }
  std::uint64_t within = 0;
  find_bucket([&](Duration greatest, std::uint64_t count) {
    if (greatest > limit) return true;
    within += count;
    return false;
  });
  return count_ - within;
}

std::vector<Duration> Distribution::samples(std::size_t limit) const {
  const std::size_t step = std::max<std::size_t>(1, (kept_.size() + limit - 1) / limit);
  std::vector<Duration> thinned;
  for (std::size_t i = 0; i < kept_.size(); i += step) thinned.push_back(kept_[i] + offset_);
  return thinned;
}

}  // namespace takt::statistics
