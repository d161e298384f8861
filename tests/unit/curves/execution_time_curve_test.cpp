#include "takt/curves/execution_time_curve.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "durations.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::curves {
namespace {

/// Def. 9 word for word.
std::vector<Duration> closure_of_costs(const std::vector<Duration>& given, std::size_t length) {
  std::vector<Duration> values{Duration{0}};
  values.insert(values.end(), given.begin(), given.end());
  while (values.size() <= length) {
    Duration least = Duration::max();
    for (std::size_t a = 1; a < values.size(); ++a) {
      least = std::min(least, values[values.size() - a] + values[a]);
    }
    values.push_back(least);
  }
  return values;
}

/// A random monotone, sub-additive prefix: the window sums of random samples.
std::vector<Duration> window_sums(std::mt19937& random, std::size_t length) {
  std::vector<std::int64_t> samples(3 * length);
  for (auto& sample : samples) sample = std::uniform_int_distribution(0, 50)(random);
  std::vector<Duration> sums;
  for (std::size_t n = 1; n <= length; ++n) {
    std::int64_t most = 0;
    for (std::size_t first = 0; first + n <= samples.size(); ++first) {
      std::int64_t sum = 0;
      for (std::size_t i = first; i < first + n; ++i) sum += samples[i];
      most = std::max(most, sum);
    }
    sums.emplace_back(most);
  }
  return sums;
}

TEST(RosLlamaFact, F36_ExtrapolationOfAPrefix) {
  const ExecutionTimeCurve curve(durations({5, 6, 7}));
  EXPECT_EQ(curve(4), Duration{12});
  EXPECT_EQ(curve(5), Duration{13});
  EXPECT_EQ(curve(6), Duration{14});
}

TEST(ExecutionTimeCurve, ScalarModelIsLinear) {
  const ExecutionTimeCurve curve(durations({7}));
  EXPECT_EQ(curve(0), Duration{0});
  EXPECT_EQ(curve(1), Duration{7});
  EXPECT_EQ(curve(1'000'000'000), Duration{7'000'000'000});
  EXPECT_EQ(curve(unbounded_count), unbounded_time);
}

TEST(RosLlamaFact, F07_CurveIsNeverAboveTheScalarModel) {
  // Rare peaks of 56 ms among cheap instances: 40 instances cost 122 ms, not 40 · 56 = 2240 ms.
  std::vector<Duration> values;
  for (std::int64_t n = 1; n <= 40; ++n) values.emplace_back(56'000'000 + (n - 1) * 1'692'308);
  const ExecutionTimeCurve curve(values);
  const ExecutionTimeCurve scalar(durations({56'000'000}));
  EXPECT_NEAR(static_cast<double>(curve(40).count()), 122e6, 1e3);
  EXPECT_EQ(scalar(40), Duration{2'240'000'000});
  for (std::int64_t n = 0; n < 1000; ++n) EXPECT_LE(curve(n), scalar(n));
}

TEST(RosLlamaFact, F08_ExtrapolatedExecutionTimesStaySubAdditive) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    const ExecutionTimeCurve curve(window_sums(random, 1 + random() % 12));
    for (std::int64_t m = 0; m < 60; ++m) {
      for (std::int64_t n = 0; n < 60; ++n) ASSERT_LE(curve(m + n), curve(m) + curve(n));
    }
  }
}

TEST(ExecutionTimeCurve, AgreesWithTheDefinitionFarBeyondThePrefix) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const auto given = window_sums(random, 1 + random() % 9);
    const auto expected = closure_of_costs(given, 400);
    // Asked in descending and in ascending order: the table may be met in any state.
    const ExecutionTimeCurve downwards(given);
    const ExecutionTimeCurve upwards(given);
    for (std::size_t n = 400; n > 0; --n) {
      ASSERT_EQ(downwards(static_cast<std::int64_t>(n)), expected[n]);
    }
    for (std::size_t n = 0; n <= 400; ++n) {
      ASSERT_EQ(upwards(static_cast<std::int64_t>(n)), expected[n]);
    }
  }
}

TEST(ExecutionTimeCurve, LongRunSlopeIsTheCheapestStretch) {
  const ExecutionTimeCurve curve(durations({5, 6, 7}));
  EXPECT_EQ(curve.long_run().cost, Duration{7});
  EXPECT_EQ(curve.long_run().instances, 3);
}

TEST(ExecutionTimeCurve, FindsTheSplitThatIsNotSubAdditive) {
  EXPECT_FALSE(find_sub_additivity_violation(durations({5, 6, 7})));
  const auto violation = find_sub_additivity_violation(durations({5, 6, 12}));
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->m, 1U);
  EXPECT_EQ(violation->n, 2U);
}

TEST(MergeCosts, ContinuesTheShorterCurve) {
  EXPECT_EQ(merge_costs(durations({10, 12}), durations({4, 8, 12, 30})),
            durations({10, 12, 22, 30}));
  EXPECT_EQ(merge_costs({}, durations({4, 8})), durations({4, 8}));
  EXPECT_EQ(merge_costs({takt::longest_time}, durations({1, 2, 3, 4})),
            std::vector(4, takt::longest_time));
}

}  // namespace
}  // namespace takt::curves
