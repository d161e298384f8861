#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/time/time.hpp"

namespace takt::execution {

/// Statistics of a stream of durations in bounded memory: count, extremes and mean are exact;
/// percentiles come from samples kept at regular distances in the stream, all of them while there
/// are at most `max_kept`.
class Distribution {
 public:
  static constexpr std::size_t max_kept = 16384;

  void add(Duration value);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] Duration min() const { return min_; }
  [[nodiscard]] Duration max() const { return max_; }
  [[nodiscard]] Duration mean() const;
  /// The smallest kept sample that at least the fraction `rank` of them does not exceed.
  [[nodiscard]] Duration percentile(double rank) const;
  /// At most `limit` of the kept samples, evenly thinned, in the order they came.
  [[nodiscard]] std::vector<Duration> samples(std::size_t limit) const;

 private:
  std::uint64_t count_ = 0;
  Duration min_{};
  Duration max_{};
  double sum_ = 0;
  std::uint64_t stride_ = 1;
  std::vector<Duration> kept_;
};

}  // namespace takt::execution
