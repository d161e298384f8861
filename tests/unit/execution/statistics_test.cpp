#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>

#include "takt/execution/curves.hpp"

namespace takt::execution {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

std::vector<Duration> durations(std::initializer_list<std::int64_t> values) {
  std::vector<Duration> list;
  for (const std::int64_t value : values) {
    list.emplace_back(value);
  }
  return list;
}

TEST(CostCurve, HoldsTheLargestSumOfEachLength) {
  CostCurve curve;
  for (const std::int64_t cost : {3, 1, 5, 2, 2}) {
    curve.add(Duration(cost));
  }
  EXPECT_EQ(curve.values(), durations({5, 7, 9, 11, 13}));
}

TEST(CostCurve, OfTimesThatDoNotFitHoldsTheLongestTime) {
  CostCurve curve;
  for (int i = 0; i < 5; ++i) {
    curve.add(Duration::max());
  }
  EXPECT_EQ(curve.values(), std::vector(5, longest_time));
}

TEST(CostCurve, EqualsBruteForceAndIsSubAdditive) {
  std::mt19937 random(1);
  std::vector<std::int64_t> costs(300);
  CostCurve curve;
  for (std::int64_t& cost : costs) {
    cost = static_cast<std::int64_t>(random() % 1000);
    curve.add(Duration(cost));
  }
  ASSERT_THAT(curve.values(), SizeIs(curve_length));
  for (std::size_t n = 1; n <= curve_length; ++n) {
    std::int64_t most = 0;
    for (std::size_t i = 0; i + n <= costs.size(); ++i) {
      std::int64_t sum = 0;
      for (std::size_t k = i; k < i + n; ++k) {
        sum += costs[k];
      }
      most = std::max(most, sum);
    }
    EXPECT_EQ(curve.values()[n - 1].count(), most) << n;
  }
  for (std::size_t m = 1; m < curve_length; ++m) {
    for (std::size_t n = 1; m + n <= curve_length; ++n) {
      EXPECT_GE(curve.values()[m - 1] + curve.values()[n - 1], curve.values()[m + n - 1]);
    }
  }
}

/// After each of many costs, among which new largest ones occur, equal ones too.
TEST(CostCurve, WithoutItsLargestEqualsBruteForce) {
  std::mt19937 random(3);
  std::vector<std::int64_t> costs;
  CostCurve curve;
  for (std::int64_t i = 0; i < 300; ++i) {
    costs.push_back(static_cast<std::int64_t>(random() % (i % 50 == 0 ? 1000 : 100)));
    curve.add(Duration(costs.back()), Instant(Duration(i)));
    const auto largest = std::ranges::max_element(costs) - costs.begin();
    ASSERT_EQ(curve.time_of_largest(), Instant(Duration(largest)));
    ASSERT_EQ(curve.largest(), Duration(costs[static_cast<std::size_t>(largest)]));
    std::vector<Duration> expected;
    for (std::int64_t n = 1; n <= std::ssize(costs) && n <= std::int64_t{curve_length}; ++n) {
      std::int64_t most = -1;
      for (std::int64_t begin = 0; begin + n <= std::ssize(costs); ++begin) {
        if (begin <= largest && largest < begin + n) continue;
        most = std::max(most, std::accumulate(costs.begin() + begin, costs.begin() + begin + n,
                                              std::int64_t{0}));
      }
      if (most >= 0) expected.emplace_back(most);
    }
    ASSERT_EQ(curve.values_without_largest(), expected) << i;
  }
}

TEST(DistanceCurve, HoldsTheShortestSpanOfEachNumber) {
  DistanceCurve curve;
  for (const std::int64_t time : {0, 10, 12, 30, 31}) {
    curve.add(Instant(Duration(time)));
  }
  EXPECT_EQ(curve.values(), durations({0, 1, 12, 21, 31}));
}

TEST(DistanceCurve, EqualsBruteForceAndIsSuperAdditive) {
  std::mt19937 random(2);
  std::vector<std::int64_t> times;
  DistanceCurve curve;
  std::int64_t now = 0;
  for (int i = 0; i < 300; ++i) {
    now += static_cast<std::int64_t>(random() % 100);
    times.push_back(now);
    curve.add(Instant(Duration(now)));
  }
  ASSERT_THAT(curve.values(), SizeIs(curve_length));
  for (std::size_t n = 1; n <= curve_length; ++n) {
    std::int64_t least = INT64_MAX;
    for (std::size_t i = 0; i + n <= times.size(); ++i) {
      least = std::min(least, times[i + n - 1] - times[i]);
    }
    EXPECT_EQ(curve.values()[n - 1].count(), least) << n;
  }
  for (std::size_t m = 2; m < curve_length; ++m) {
    for (std::size_t n = 2; m + n - 1 <= curve_length; ++n) {
      EXPECT_LE(curve.values()[m - 1] + curve.values()[n - 1], curve.values()[m + n - 2]);
    }
  }
}

TEST(DistanceCurve, WithoutItsShortestTimeEqualsBruteForce) {
  std::mt19937 random(4);
  std::vector<std::int64_t> times;
  DistanceCurve curve;
  std::int64_t now = 0;
  for (int i = 0; i < 200; ++i) {
    now += static_cast<std::int64_t>(10 + random() % 90 - (i % 40 == 20 ? 10 : 0));
    times.push_back(now);
    curve.add(Instant(Duration(now)));
  }
  std::size_t later = 1;
  for (std::size_t i = 2; i < times.size(); ++i) {
    if (times[i] - times[i - 1] < times[later] - times[later - 1]) later = i;
  }
  EXPECT_EQ(curve.time_of_shortest(), Instant(Duration(times[later])));
  const std::vector<Duration> values = curve.bounded_without_shortest(Duration(1));
  for (std::size_t n = 1; n <= curve_length; ++n) {
    std::int64_t least = INT64_MAX;
    for (std::size_t i = 0; i + n <= times.size(); ++i) {
      if (i < later && later < i + n) continue;
      least = std::min(least, times[i + n - 1] - times[i]);
    }
    EXPECT_EQ(values[n - 1].count(), least) << n;
  }
  DistanceCurve single;
  single.add(Instant(Duration(3)));
  single.add(Instant(Duration(9)));
  EXPECT_THAT(single.bounded_without_shortest(Duration(100)), SizeIs(0));
}

TEST(DistanceCurve, BetweenLimitsEqualsBruteForce) {
  std::mt19937 random(5);
  std::vector<std::pair<std::int64_t, std::int64_t>> limits;
  DistanceCurve curve;
  std::int64_t now = 0;
  for (int i = 0; i < 200; ++i) {
    now += static_cast<std::int64_t>(10 + random() % 90);
    const std::int64_t latest = now + static_cast<std::int64_t>(random() % 40);
    limits.emplace_back(now, latest);
    curve.add(Instant(Duration(now)), Instant(Duration(latest)));
  }
  const std::vector<Duration> values = curve.values();
  EXPECT_EQ(values[0], Duration(0));
  for (std::size_t n = 2; n <= curve_length; ++n) {
    std::int64_t least = INT64_MAX;
    for (std::size_t i = 0; i + n <= limits.size(); ++i) {
      least = std::min(least, limits[i + n - 1].second - limits[i].first);
    }
    EXPECT_EQ(values[n - 1].count(), least) << n;
  }
}

TEST(DistanceCurve, RareActivationsAreBoundedByTheObservation) {
  DistanceCurve curve;
  EXPECT_THAT(curve.bounded_by(Duration(1000)), SizeIs(0));
  curve.add(Instant(Duration(5)));
  EXPECT_EQ(curve.bounded_by(Duration(1000)), durations({0, 1000}));
  curve.add(Instant(Duration(905)));
  // Two activations 900 apart: a third cannot be nearer than 900 to its neighbour either.
  EXPECT_EQ(curve.bounded_by(Duration(1000)), durations({0, 900, 1800}));
  curve.add(Instant(Duration(906)));
  EXPECT_EQ(curve.bounded_by(Duration(1000)), durations({0, 1, 901, 1000}));
}

TEST(DistanceCurve, SimultaneousActivationsEndInAPositiveValue) {
  DistanceCurve curve;
  for (std::size_t i = 0; i < 2 * curve_length; ++i) {
    curve.add(Instant(Duration(7)));
  }
  EXPECT_THAT(curve.bounded_by(Duration(100)), SizeIs(curve_length + 1));
  EXPECT_EQ(curve.bounded_by(Duration(100)).back(), Duration(100));
  EXPECT_EQ(curve.bounded_by(Duration(0)).back(), Duration(1));
}

}  // namespace
}  // namespace takt::execution
