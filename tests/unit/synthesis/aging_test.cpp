#include "takt/synthesis/aging.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>

#include "takt/execution/curves.hpp"

/// Numbered facts are those of ros-llama.md, section 7; workloads those of its S-5.6.
namespace takt::synthesis {
namespace {

using testing::ElementsAre;
using testing::Ge;
using testing::Lt;

constexpr Duration ms = std::chrono::milliseconds(1);

Aging aging(std::int64_t period, double weight, double threshold = 0.9, double margin = 0) {
  const auto share = [](double value) { return std::llround(value * Aging::one); };
  return {period, share(weight), share(threshold), share(margin)};
}

void repeat(AgingCurve& curve, Duration cost, int times) {
  for (int i = 0; i < times; ++i) curve.add(cost);
}

TEST(Aging, F31_LongerTimesCountAtOnce) {
  AgingCurve curve(aging(100, 0.8));
  repeat(curve, ms, 10);
  curve.add(3 * ms);
  EXPECT_EQ(curve.values()[0], 3 * ms);
  EXPECT_EQ(curve.values()[1], 4 * ms);
}

TEST(Aging, F31_MovesOnlyBelowTheThreshold) {
  // The larger time is 10 % more: 1 / 1.1 is above 0.9, not above 0.92.
  for (const auto& [threshold, moves] : {std::pair(0.9, false), std::pair(0.92, true)}) {
    AgingCurve curve(aging(100, 0.5, threshold));
    curve.add(Duration{1'100'000});
    repeat(curve, ms, 299);
    EXPECT_EQ(curve.values()[0] < Duration{1'100'000}, moves);
  }
}

TEST(Aging, F31_WithoutWeightNothingAges) {
  std::minstd_rand random(5);
  AgingCurve curve(aging(64, 0));
  execution::CostCurve all;
  for (int i = 0; i < 2000; ++i) {
    const Duration cost(random() % 1000);
    curve.add(cost);
    all.add(cost);
  }
  EXPECT_EQ(curve.values(), all.values());
}

TEST(Aging, F31_ThePeriodIsAtLeastTheWindow) {
  EXPECT_FALSE(check(aging(63, 0.5)));
  EXPECT_TRUE(check(aging(64, 0.5)));
  EXPECT_FALSE(check(aging(64, 1.5)));
  EXPECT_FALSE(check(aging(64, 0.5, -0.1)));
  EXPECT_FALSE(check(aging(64, 0.5, 0.9, -1)));
}

TEST(Aging, F37_HalfTheTimeIsApproachedInTwoSteps) {
  AgingCurve curve(aging(100, 0.8));
  repeat(curve, 2 * ms, 100);
  std::vector<Duration> found;
  for (int i = 0; i < 4; ++i) {
    repeat(curve, ms, 100);
    found.push_back(curve.values()[0]);
  }
  // Then 1 / 1.04 is at least 0.9.
  EXPECT_THAT(found, ElementsAre(Duration{1'200'000}, Duration{1'040'000}, Duration{1'040'000},
                                 Duration{1'040'000}));
}

TEST(Aging, TheMarginIsAddedToEveryTime) {
  AgingCurve curve(aging(100, 0.8, 0.9, 0.05));
  curve.add(Duration{101});
  EXPECT_EQ(curve.values()[0], Duration{107});  // 106.05
}

/// Lemma 25 and what it leaves out: windows that began before the last comparison.
TEST(Aging, CurvesStaySubAdditiveAndAboveTheNewestWindows) {
  std::minstd_rand random(11);
  for (const double weight : {0.1, 0.8, 1.0}) {
    AgingCurve curve(aging(64, weight));
    std::vector<Duration> costs;
    for (int i = 0; i < 1500; ++i) {
      costs.emplace_back(random() % 40 == 0 ? random() % 100'000 : random() % 1000);
      curve.add(costs.back());
      const auto& values = curve.values();
      for (std::size_t n = 1; n < values.size(); ++n) {
        ASSERT_GE(values[n], values[n - 1]);
        for (std::size_t m = 0; m < n; ++m) {
          ASSERT_LE(values[n], values[m] + values[n - 1 - m]) << "instance " << i;
        }
      }
      const std::size_t first = costs.size() - values.size();
      for (std::size_t begin = first; begin < costs.size(); ++begin) {
        Duration sum{};
        for (std::size_t n = 0; begin + n < costs.size(); ++n) {
          sum += costs[begin + n];
          ASSERT_GE(values[n], sum) << "instance " << i;
        }
      }
    }
  }
}

/// One event source of 10 ms for 120 s (S-5.6): how much the curve overestimates on average, and
/// how many instances took longer than it had said before.
struct Figures {
  double overestimation = 0;  // ms
  int errors = 0;
};

std::vector<Duration> workload(const std::function<double(double seconds)>& milliseconds) {
  std::vector<Duration> costs;
  for (int i = 0; i < 12'000; ++i) {
    costs.emplace_back(std::llround(std::max(milliseconds(0.01 * i), 0.0) * 1e6));
  }
  return costs;
}

Figures play(const std::vector<Duration>& costs, const Aging& how) {
  AgingCurve curve(how);
  Figures figures;
  for (const Duration cost : costs) {
    const Duration said = curve.values().empty() ? cost : curve.values()[0];
    figures.errors += cost > said ? 1 : 0;
    figures.overestimation += static_cast<double>(std::max(said - cost, Duration{0}).count()) / 1e6;
    curve.add(cost);
  }
  figures.overestimation /= static_cast<double>(costs.size());
  return figures;
}

/// 1 ms, doubled between 1.8 and 2.1 s, with the jitter of busy waiting (1 %, S-5.6).
std::vector<Duration> spiking() {
  std::mt19937 random(1);
  return workload([&random](double seconds) {
    const double jitter = 0.01 * static_cast<double>(random() % 1000) / 1000;
    return (seconds >= 1.8 && seconds < 2.1 ? 2.0 : 1.0) * (1 + jitter);
  });
}

/// Mean 3 + 3 sin, deviation 1 ms, with the noise cut at ±1.2 ms: the figures of the document imply
/// so (experiments/data-aging).
std::vector<Duration> oscillating(double frequency) {
  std::mt19937 random(2);
  std::normal_distribution<double> noise(0, 1);
  return workload([=](double seconds) mutable {
    return 3 + 3 * std::sin(2 * std::numbers::pi * frequency * seconds) +
           std::clamp(noise(random), -1.2, 1.2);
  });
}

TEST(Aging, F32_ASpikeIsForgotten) {
  const auto costs = spiking();
  const Figures never = play(costs, aging(200, 0));
  const Figures ages = play(costs, aging(200, 0.8));
  EXPECT_NEAR(never.overestimation, 1, 0.05);  // for 118 of 120 s
  EXPECT_LE(ages.overestimation, 0.2 * never.overestimation);
  EXPECT_EQ(ages.errors, never.errors);
}

/// Published: no errors here, 0 to 25 for all settings of the figure, and 18 % less overestimation;
/// without the margin at least 250 errors. Which instances are the first above a bound, when the
/// oscillation rises again, is a matter of the noise, and standard libraries draw it differently:
/// of a hundred seeds one has 10 errors and none more, the mean is 4.9 and this seed has 4.
TEST(Aging, F33_ASlowOscillationIsFollowedWithHardlyAnError) {
  const auto costs = oscillating(0.05);
  const Figures baseline = play(costs, aging(175, 0));
  const Figures bare = play(costs, aging(175, 0.2));
  const Figures ages = play(costs, aging(175, 0.2, 0.9, 0.05));
  EXPECT_LE(ages.errors, 10);
  EXPECT_GE(bare.errors, 250);
  EXPECT_LE(ages.overestimation, 0.82 * baseline.overestimation);
}

TEST(Aging, F31_MoreWeightAndShorterPeriodsOverestimateLess) {
  const auto costs = oscillating(0.05);
  double last = play(costs, aging(200, 0)).overestimation;
  for (const double weight : {0.2, 0.4, 0.6, 0.8, 1.0}) {
    const double now = play(costs, aging(200, weight)).overestimation;
    EXPECT_THAT(now, Lt(last)) << weight;
    last = now;
  }
  last = 0;
  for (const std::int64_t period : {100, 200, 300, 400}) {
    const double now = play(costs, aging(period, 0.4)).overestimation;
    EXPECT_THAT(now, Ge(last)) << period;
    last = now;
  }
}

/// Normal with mean and deviation of 1 ms: the more often a curve moves, the more instances exceed
/// it; a lower threshold lets it move less often.
TEST(Aging, NoiseIsPredictedBestWhereTheCurveMovesSeldom) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(1, 1);
  const auto costs = workload([&](double) { return noise(random); });
  const Figures never = play(costs, aging(200, 0));
  EXPECT_NEAR(never.overestimation, 3, 0.6);  // three deviations
  const Figures often = play(costs, aging(100, 0.4));
  const Figures seldom = play(costs, aging(600, 0.4));
  const Figures reluctant = play(costs, aging(100, 0.4, 0.6));
  EXPECT_GT(often.errors, seldom.errors);
  EXPECT_GT(often.errors, reluctant.errors);
}

}  // namespace
}  // namespace takt::synthesis
