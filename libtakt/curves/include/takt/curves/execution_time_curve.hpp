#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "takt/curves/saturating.hpp"
#include "takt/time/time.hpp"

namespace takt::curves {

/// The most values by which a curve may be given.
inline constexpr std::size_t most_values = 256;

/// ET: the longest total execution time of any n consecutive instances of a callback
/// (ros-llama S-1.6). ET(0) = 0, ET is monotone and sub-additive: ET(m) + ET(n) >= ET(m + n).
///
/// It is given by its first values and continued by sub-additivity (S-4.4.5, Def. 9):
/// ET(n) = min over 0 < a < n of ET(n - a) + ET(a). A curve of one value is the scalar model
/// n·WCET.
///
/// Values beyond the given ones are computed when first asked for and kept, so a curve must not be
/// shared between threads.
class ExecutionTimeCurve {
 public:
  /// values[n - 1] = ET(n); 1 to `most_values` of at most longest_time, not negative, monotone and
  /// sub-additive (see below).
  explicit ExecutionTimeCurve(std::span<const Duration> values);

  /// ET(n); 0 for n <= 0, unbounded_time when it does not fit. O(1) once the table has grown to
  /// where the curve repeats (at most the square of the number of given values).
  [[nodiscard]] Duration operator()(std::int64_t n) const {
    if (n <= 0) return Duration{0};
    if (given_ == 1) return saturating_multiply(slope_.cost, n);
    if (static_cast<std::size_t>(n) < table_.size()) return table_[static_cast<std::size_t>(n)];
    return beyond_table(n);
  }

  /// The number of values by which the curve is given.
  [[nodiscard]] std::size_t given() const { return given_; }

  /// The cheapest stretch: ET(n)/n >= cost/instances, and ET(n)/n tends to it.
  struct Slope {
    Duration cost{};
    std::int64_t instances = 1;
  };
  [[nodiscard]] Slope long_run() const { return slope_; }

 private:
  [[nodiscard]] Duration beyond_table(std::int64_t n) const;

  std::size_t given_;
  Slope slope_;
  std::size_t longest_ = 1;  // from here on the curve repeats with period slope_.instances
  mutable std::vector<Duration> table_;  // empty if a single value is given
};

/// The first pair (m, n) with ET(m) + ET(n) < ET(m + n), if any. values[n - 1] = ET(n). O(N²).
struct SplitViolation {
  std::size_t m = 0;
  std::size_t n = 0;
};
[[nodiscard]] std::optional<SplitViolation> find_sub_additivity_violation(
    std::span<const Duration> values);

/// The pointwise maximum of two cost curves ET(1), ET(2), …, the shorter one continued by
/// sub-additivity (ros-llama S-4.4.5, Def. 9). An empty one costs nothing. O(N²).
[[nodiscard]] std::vector<Duration> merge_costs(std::vector<Duration> a, std::vector<Duration> b);

/// Curves of counts keep the same laws: counts as costs of 1 ns each, and back.
[[nodiscard]] std::vector<Duration> as_costs(std::span<const std::int64_t> counts);
[[nodiscard]] std::vector<std::int64_t> as_counts(std::span<const Duration> costs);

/// The cost curve ET(1), ET(2), … scaled to `percent` of itself, each value at most longest_time.
/// Values are rounded up: rounding down could make the curve super-additive by 1 ns.
[[nodiscard]] std::vector<Duration> scaled(std::span<const Duration> curve, int percent);

}  // namespace takt::curves
