#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "takt/time/time.hpp"

namespace takt::simulation {

/// Statistics of durations in bounded memory. Count, extremes and mean are exact; so are quantiles
/// of up to 10 000 values, while those of more are counted in buckets and right to 0.4 %. record()
/// is O(1), amortised.
class Distribution {
 public:
  /// `value` >= 0.
  void record(Duration value);

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Of at least one value.
  [[nodiscard]] Duration min() const { return min_; }
  [[nodiscard]] Duration max() const { return max_; }
  [[nodiscard]] double mean() const;
  /// The standard deviation of the values as a population.
  [[nodiscard]] double standard_deviation() const;
  /// The least value that at least the share q of all values does not exceed; 0 < q <= 1.
  [[nodiscard]] Duration quantile(double q) const;

 private:
  /// Values below 2^precision have a bucket each, and so have the 2^precision steps between one
  /// power of two and the next.
  static constexpr int precision = 8;
  static constexpr std::int64_t steps = std::int64_t{1} << precision;
  static constexpr std::size_t most_values = 10'000;

  void put_in_bucket(Duration value);

  std::int64_t count_ = 0;
  Duration min_ = Duration::max();
  Duration max_{};
  double sum_ = 0;
  double sum_of_squares_ = 0;
  /// Until there are too many.
  std::vector<Duration> values_;
  /// By octave, made when the first value falls into it.
  std::array<std::vector<std::int64_t>, 64> octaves_;
};

}  // namespace takt::simulation
