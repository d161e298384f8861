#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/execution/curves.hpp"

namespace takt::synthesis {

/// How execution times of long ago lose their weight (ros-llama S-4.4.8). Shares are in millionths.
/// A curve that ages is no upper bound of everything that was seen.
struct Aging {
  static constexpr std::int64_t one = 1'000'000;

  /// After so many instances of a callback (T, at least execution::curve_length) its curve is
  /// compared with what was seen since the last comparison.
  std::int64_t period = 600;
  /// How far the curve then moves (α, from 0: it does not age, to 1).
  std::int64_t weight = one / 5;
  /// It moves only if the longest time seen since is below this share of the curve's (G).
  std::int64_t threshold = one * 9 / 10;
  /// The share of itself that is added to each observed time (S).
  std::int64_t margin = 0;
};

/// Error: a parameter is out of its range; in one line.
[[nodiscard]] Result<void> check(const Aging& aging);

/// The cost of any n consecutive instances, as CostCurve has it, but with aging: it rises at once
/// and falls slowly. Monotone and sub-additive, and always at least the cost of any window of the
/// newest `curve_length` instances.
///
/// The printed condition of S-4.4.8 is reversed; this is the prose: a curve moves where it
/// overestimates much.
class AgingCurve {
 public:
  explicit AgingCurve(const Aging& aging) : aging_(aging) {}

  /// Adds the next instance's cost (negative ones count as 0). O(curve_length), and its square
  /// once in a period.
  void add(Duration cost);

  /// values()[n - 1] is the cost of n consecutive instances, n up to curve_length.
  [[nodiscard]] const std::vector<Duration>& values() const { return values_; }

 private:
  void merge();

  Aging aging_;
  /// The newest costs with their margin, the newest last.
  std::vector<Duration> window_;
  std::vector<Duration> values_;
  /// The curve of the instances since the last comparison.
  std::vector<Duration> recent_;
  std::int64_t since_ = 0;
};

}  // namespace takt::synthesis
