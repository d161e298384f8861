#pragma once

#include <algorithm>
#include <span>

namespace takt::scheduling {

/// The test of Goossens, Funk and Baruah for global earliest-deadline-first scheduling on identical
/// processors: with at most m - (m - 1) * (largest density) of total density every reservation is
/// served by its deadline. Density = budget / deadline. Sufficient, not necessary.
struct GfbTest {
  double total = 0;
  double largest = 0;
  double limit = 0;
  bool holds = true;
};

/// The test on `processors` >= 1 identical processors, O(n).
[[nodiscard]] inline GfbTest gfb_test(std::span<const double> densities, int processors) {
  /// Well above the rounding of a sum of quotients, well below any bandwidth that matters.
  constexpr double tolerance = 1e-9;
  GfbTest test;
  for (const double density : densities) {
    test.total += density;
    test.largest = std::max(test.largest, density);
  }
  test.limit = processors - (processors - 1) * test.largest;
  test.holds = test.total <= test.limit + tolerance;
  return test;
}

}  // namespace takt::scheduling
