#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "takt/time/time.hpp"

namespace takt::workload {

/// The execution times of a callback's instances, one after the other, as long as its cumulative
/// curve allows: no window of n consecutive instances exceeds ET(n) (ros-llama S-1.6). With L
/// values in the curve, the first and then every L-th instance takes ET(1); the others take the
/// longest time that leaves room for that.
class CostSequence {
 public:
  /// `curve`: ET(1), ET(2), …; monotone and sub-additive, not empty. Longer windows keep to the
  /// curve's sub-additive extension by themselves.
  explicit CostSequence(std::span<const Duration> curve);

  /// The next instance's execution time. O(length of the curve), allocates nothing.
  [[nodiscard]] Duration next();

 private:
  std::vector<Duration> curve_;
  /// The most recent costs as a ring; as many as windows of the curve can reach back.
  std::vector<Duration> recent_;
  /// The place of the next instance, in the ring and in the cycle that ET(1) begins.
  std::size_t position_ = 0;
};

}  // namespace takt::workload
