#include "takt/curves/activation_curve.hpp"

#include <gmock/gmock.h>

#include <random>

#include "durations.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::curves {
namespace {

/// Def. 10 word for word; element n is δ(n).
std::vector<Duration> closure_of_distances(const std::vector<Duration>& given, std::size_t length) {
  std::vector<Duration> values{Duration{0}};
  values.insert(values.end(), given.begin(), given.end());
  while (values.size() <= length) {
    const std::size_t n = values.size();
    Duration longest{0};
    for (std::size_t a = 2; a <= n - 1; ++a) {
      longest = std::max(longest, values[n - a + 1] + values[a]);
    }
    values.push_back(longest);
  }
  return values;
}

/// A random prefix of the distances of a random arrival sequence with bursts.
std::vector<Duration> random_distances(std::mt19937& random, std::size_t length) {
  std::vector<std::int64_t> times{0};
  for (std::size_t i = 0; i < 3 * length; ++i) {
    times.push_back(times.back() + (random() % 3 == 0 ? 0 : 1 + static_cast<int>(random() % 20)));
  }
  std::vector<Duration> distances{Duration{0}};
  for (std::size_t n = 2; n <= length; ++n) {
    std::int64_t least = times.back() + 1;
    for (std::size_t i = 0; i + n <= times.size(); ++i) {
      least = std::min(least, times[i + n - 1] - times[i]);
    }
    distances.emplace_back(least);
  }
  if (distances.back() == Duration{0}) distances.back() = Duration{1};
  return distances;
}

TEST(RosLlamaFact, F10_TimerActivationsAreTheCeiling) {
  const auto timer = ActivationCurve::periodic(Duration{50}, Duration{0});
  for (std::int64_t window = -3; window < 400; ++window) {
    EXPECT_EQ(timer.count(Duration{window}), window <= 0 ? 0 : (window + 49) / 50) << window;
  }
}

TEST(ActivationCurve, JitterShiftsTheSteps) {
  const auto curve = ActivationCurve::periodic(Duration{10}, Duration{25});
  EXPECT_EQ(curve.count(Duration{1}), 3);
  EXPECT_EQ(curve.count(Duration{5}), 3);
  EXPECT_EQ(curve.count(Duration{6}), 4);
  EXPECT_EQ(curve.distance(3), Duration{0});
  EXPECT_EQ(curve.distance(4), Duration{5});
}

TEST(RosLlamaFact, F11_RareEventWithStartUp) {
  // Times in ms: δ(2) = 1, δ(3) = 300 001 ⇒ δ(4) = 300 002, δ(5) = 600 002.
  const auto curve = ActivationCurve::min_distance(durations({0, 1, 300'001}));
  EXPECT_EQ(curve.distance(4), Duration{300'002});
  EXPECT_EQ(curve.distance(5), Duration{600'002});
}

TEST(RosLlamaFact, F08_ExtrapolatedDistancesStaySuperAdditive) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const auto curve = ActivationCurve::min_distance(random_distances(random, 2 + random() % 8));
    for (std::int64_t m = 1; m < 50; ++m) {
      for (std::int64_t n = 1; n < 50; ++n) {
        ASSERT_LE(curve.distance(m) + curve.distance(n), curve.distance(m + n - 1));
      }
    }
  }
}

TEST(ActivationCurve, AgreesWithTheDefinitionFarBeyondThePrefix) {
  std::mt19937 random(4);
  for (int round = 0; round < 100; ++round) {
    const auto given = random_distances(random, 2 + random() % 8);
    ASSERT_FALSE(find_super_additivity_violation(given));
    const auto expected = closure_of_distances(given, 300);
    const auto curve = ActivationCurve::min_distance(given);
    const auto other = ActivationCurve::min_distance(given);
    for (std::size_t n = 300; n > 0; --n) {
      ASSERT_EQ(curve.distance(static_cast<std::int64_t>(n)), expected[n]);
    }
    std::size_t n = 0;
    for (Duration window{0}; window < expected.back(); window += epsilon) {
      while (n + 1 < expected.size() && expected[n + 1] < window) ++n;
      ASSERT_EQ(other.count(window), static_cast<std::int64_t>(n)) << window.count();
    }
  }
}

TEST(ActivationCurve, NextStepEnumeratesExactlyTheSteps) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const auto curve = round % 2 == 0
                           ? ActivationCurve::min_distance(random_distances(random, 6))
                           : ActivationCurve::periodic(Duration{1 + static_cast<int>(random() % 9)},
                                                       Duration{static_cast<int>(random() % 20)});
    Duration next = curve.next_step(Duration{0});
    for (Duration window{1}; window < Duration{300}; window += epsilon) {
      const bool steps = curve.count(window) != curve.count(window - epsilon);
      ASSERT_EQ(steps, window == next) << window.count();
      if (steps) next = curve.next_step(window);
    }
  }
}

TEST(ActivationCurve, WindowsThatDoNotFitCountWithoutBound) {
  EXPECT_EQ(ActivationCurve::periodic(Duration{1}, longest_time).count(unbounded_time),
            unbounded_count);
  EXPECT_EQ(ActivationCurve::min_distance(durations({0, 1})).count(unbounded_time),
            unbounded_count);
}

TEST(ActivationCurve, FindsTheSplitThatIsNotSuperAdditive) {
  const auto violation = find_super_additivity_violation(durations({0, 5, 9}));
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->m, 2U);
  EXPECT_EQ(violation->n, 2U);
}

}  // namespace
}  // namespace takt::curves
