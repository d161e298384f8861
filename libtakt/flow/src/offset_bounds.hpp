#pragma once

#include <cstddef>
#include <vector>

#include "takt/statistics/lower_line.hpp"

namespace takt::flow {

/// A bound of the offset between two clocks: it lay below `point.y` at `point.x`, or above it.
struct OffsetBound {
  statistics::Point point;
  bool is_above = false;
};

/// How far the offset can have been at a time.
struct OffsetRange {
  double time = 0;
  double low = 0;
  double high = 0;
  /// The best guess.
  double middle = 0;
  /// By how much it loosens per time until the next range.
  double rate = 0;
};

struct OffsetRanges {
  /// At the times of the bounds, in their order.
  std::vector<OffsetRange> ranges;
  /// How often the clock was set.
  std::size_t steps = 0;
  /// In how many of the parts between them its rate was changed.
  std::size_t changes = 0;
};

/// The ranges that bounds leave, in ns over ns. `bounds`: by ascending time, some of them above and
/// some below. O(n · hull).
[[nodiscard]] OffsetRanges ranges_of(const std::vector<OffsetBound>& bounds, double most_drift,
                                     double most_wander);

}  // namespace takt::flow
