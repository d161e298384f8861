#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/time/time.hpp"

namespace takt::statistics {

/// Statistics of a stream of durations in bounded memory. Count, extremes and mean are exact.
/// Quantiles are exact for up to `max_kept` values; more values are counted in buckets, and
/// quantiles are then accurate to 0.4 % of the recorded value. record() is O(1), amortised.
class Distribution {
 public:
  /// The most values that are kept as they are.
  static constexpr std::size_t max_kept = 16384;

  void record(Duration value);

  /// Adds `offset` to every value recorded so far, for values that are relative to something that
  /// becomes known later.
  void shift(Duration offset) { offset_ += offset; }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// This and all that follow need at least one value.
  [[nodiscard]] Duration min() const { return min_ + offset_; }
  [[nodiscard]] Duration max() const { return max_ + offset_; }
  /// Nanoseconds.
  [[nodiscard]] double mean() const;
  /// The standard deviation of the values as a population, in nanoseconds.
  [[nodiscard]] double standard_deviation() const;
  /// The least value v such that at least the share q of all values is <= v; 0 <= q <= 1. For
  /// q = 0 the least value of all.
  [[nodiscard]] Duration quantile(double q) const;
  /// How many values are above a limit. Of more than `max_kept` values, those that are below it by
  /// up to 0.4 % of it may count, too; but none counts if max() does not.
  [[nodiscard]] std::uint64_t count_above(Duration limit) const;

  /// At most `limit` (> 0) of the values, taken at regular distances in the stream, in the order in
  /// which they came.
  [[nodiscard]] std::vector<Duration> samples(std::size_t limit) const;

 private:
  /// Values below 2^precision have a bucket each, and so have the 2^precision steps between one
  /// power of two and the next.
  static constexpr int precision = 8;
  static constexpr std::size_t steps = std::size_t{1} << precision;
  /// Counts by magnitude. An octave is made when the first value falls into it.
  using Buckets = std::vector<std::vector<std::uint64_t>>;

  void record_in_buckets(Duration value);
  void count_in_bucket(Duration value);
  [[nodiscard]] Duration quantile_of_buckets(std::uint64_t rank) const;
  /// Calls `visit` with the greatest value of each bucket that holds any and how many it holds,
  /// from the least values to the greatest, until it returns true.
  template <typename Visit>
  void find_bucket(Visit visit) const;

  std::uint64_t count_ = 0;
  Duration offset_{};
  Duration min_ = Duration::max();
  Duration max_ = Duration::min();
  /// Sums over the differences from the first value, which keeps them small. In nanoseconds.
  double first_ = 0;
  double sum_ = 0;
  double sum_of_squares_ = 0;
  /// Every stride_-th value; the stride is a power of two.
  std::vector<Duration> kept_;
  std::uint64_t stride_ = 1;
  /// All values, once kept_ does not hold them all.
  Buckets positive_;
  Buckets negative_;
};

}  // namespace takt::statistics
