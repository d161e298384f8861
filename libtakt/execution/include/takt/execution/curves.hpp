#pragma once

#include <cstddef>
#include <vector>

#include "takt/time/time.hpp"

namespace takt::execution {

/// The measured curves cover up to this many consecutive instances: L of ros-llama S-4.4.5.
inline constexpr std::size_t curve_length = 64;

/// The largest cost of any n consecutive instances, n up to curve_length (ros-llama S-4.4.5,
/// Algorithm 1). Monotone and sub-additive by construction, as every window of m + n instances is
/// one of m and one of n.
class CostCurve {
 public:
  /// Adds the next instance's cost (negative ones count as 0). O(curve_length).
  void add(Duration cost);

  /// values()[n - 1] is the largest cost of n consecutive instances.
  [[nodiscard]] const std::vector<Duration>& values() const { return values_; }
  [[nodiscard]] bool empty() const { return values_.empty(); }

 private:
  std::vector<Duration> window_;  // a ring
  std::size_t next_ = 0;
  std::vector<Duration> values_;
};

/// The pointwise maximum of two cost curves, the shorter one continued by sub-additivity
/// (ros-llama S-4.4.5, Def. 9).
[[nodiscard]] std::vector<Duration> merge_costs(std::vector<Duration> a, std::vector<Duration> b);

/// The shortest span that holds n consecutive activations, n up to curve_length (ros-llama S-4.4.6,
/// Algorithm 2). Monotone and super-additive by construction.
class DistanceCurve {
 public:
  /// Adds the next activation; one before the last counts as simultaneous. O(curve_length).
  void add(Instant activation);

  /// values()[n - 1] is the shortest span of n consecutive activations; values()[0] is 0.
  [[nodiscard]] const std::vector<Duration>& values() const { return values_; }

  /// The values, completed by what an observation of this length shows: no window of that length
  /// held more activations than were added. Ends with a positive value, as models need. Empty if
  /// there was no activation.
  [[nodiscard]] std::vector<Duration> bounded_by(Duration observed) const;

 private:
  std::vector<Instant> window_;  // a ring
  std::size_t next_ = 0;
  std::vector<Duration> values_;
};

}  // namespace takt::execution
