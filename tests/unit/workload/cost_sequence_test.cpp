#include "takt/workload/cost_sequence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace takt::workload {
namespace {

using testing::ElementsAre;

std::vector<Duration> durations(const std::vector<int>& values) {
  std::vector<Duration> result;
  for (const int value : values) result.emplace_back(value);
  return result;
}

std::vector<int> first_costs(const std::vector<int>& curve, int count) {
  CostSequence costs(durations(curve));
  std::vector<int> result;
  for (int i = 0; i < count; ++i) result.push_back(static_cast<int>(costs.next().count()));
  return result;
}

TEST(CostSequence, OfOneValueIsConstant) { EXPECT_THAT(first_costs({7}, 3), ElementsAre(7, 7, 7)); }

TEST(CostSequence, TakesWhatTheCurveLeaves) {
  EXPECT_THAT(first_costs({5, 6, 7}, 7), ElementsAre(5, 1, 1, 5, 1, 1, 5));
  EXPECT_THAT(first_costs({4, 7}, 4), ElementsAre(4, 3, 4, 3));
  EXPECT_THAT(first_costs({5, 5}, 4), ElementsAre(5, 0, 5, 0));
  // 4 after 1 would not leave room for the next 5.
  EXPECT_THAT(first_costs({5, 6, 10}, 6), ElementsAre(5, 1, 1, 5, 1, 1));
}

/// A random monotone, sub-additive curve.
std::vector<int> random_curve(std::mt19937& random) {
  std::vector<int> curve;
  const int length = std::uniform_int_distribution(1, 8)(random);
  for (int n = 1; n <= length; ++n) {
    int most = 20;
    for (int m = 1; m < n; ++m) {
      const int split =
          curve[static_cast<std::size_t>(m - 1)] + curve[static_cast<std::size_t>(n - m - 1)];
      most = m == 1 ? split : std::min(most, split);
    }
    const int least = n == 1 ? 1 : curve.back();
    curve.push_back(std::uniform_int_distribution(least, most)(random));
  }
  return curve;
}

TEST(CostSequence, NoWindowExceedsTheCurveAndTheLongestTimeReturns) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const std::vector<int> curve = random_curve(random);
    const std::vector<int> costs = first_costs(curve, 60);
    for (std::size_t n = 1; n <= curve.size(); ++n) {
      for (auto window = costs.begin(); window + static_cast<int>(n) <= costs.end(); ++window) {
        ASSERT_LE(std::accumulate(window, window + static_cast<int>(n), 0), curve[n - 1])
            << testing::PrintToString(curve) << testing::PrintToString(costs);
      }
    }
    ASSERT_GE(*std::ranges::min_element(costs), 0);
    for (std::size_t k = 0; k < costs.size(); k += curve.size()) {
      ASSERT_EQ(costs[k], curve.front()) << testing::PrintToString(curve);
    }
  }
}

}  // namespace
}  // namespace takt::workload
