#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "takt/curves/execution_time_curve.hpp"
#include "takt/curves/least_solution.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/generation/random.hpp"

/// Theorems 2 and 3 leave open what the instance in question itself costs; Lemma 17 eliminates that
/// cost (ros-llama S-3.3.1).
namespace takt::analysis {
namespace {

/// A monotone step function: `start`, and `step` more at every multiple of `span`.
struct Steps {
  std::int64_t start;
  std::int64_t step;
  std::int64_t span;
  std::int64_t operator()(Duration x) const { return start + x.count() / span * step; }
};

struct Instance {
  explicit Instance(std::uint64_t seed) {
    generation::Random random(seed);
    const auto period = random.between(5, 20);
    supply = curves::SupplyBound::reservation(Duration{random.between(period / 2, period)},
                                              Duration{period}, Duration{period});
    demand = {random.between(1, 20), random.between(0, 6), random.between(20, 60)};
    earlier = {random.between(0, 2), random.between(0, 1), random.between(20, 80)};
    std::vector<Duration> values{Duration{random.between(1, 15)}};
    for (std::int64_t n = 1; n < random.between(1, 4); ++n) {
      // Later instances cost no more than the first: sub-additive.
      const auto least = values.size() == 1 ? values[0] : values.back() - values[values.size() - 2];
      values.push_back(values.back() + Duration{random.between(0, least.count())});
    }
    cost = curves::ExecutionTimeCurve(values);
  }

  /// The start under a demand of f and min(ET(g), ET(g + 1) - ω); Lemma 17 has ET(g) alone.
  template <typename Self>
  Duration start(Self self) const {
    return curves::least_solution(supply, epsilon, Duration{5'000}, [&](Duration x) {
      return Duration{demand(x)} + self(earlier(x));
    });
  }
  Duration finish(Duration start, Duration last_cost) const {
    return supply.time_for(supply.supply(start) - epsilon + last_cost);
  }

  curves::SupplyBound supply = curves::SupplyBound::dedicated();
  Steps demand{};
  Steps earlier{};
  curves::ExecutionTimeCurve cost{std::vector{epsilon}};
};

TEST(RosLlamaFact, F22_EliminatingTheLastCostIsSafeAndMostlyExact) {
  int compared = 0;
  int exact = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    const Instance instance(seed);
    const auto& cost = instance.cost;
    const Duration start = instance.start([&](std::int64_t n) { return cost(n); });
    if (start == curves::unbounded_time) continue;
    const std::int64_t n = instance.earlier(start);
    const Duration bound = instance.finish(start, cost(n + 1) - cost(n));
    Duration worst{0};
    for (Duration last{0}; last <= cost(1); last += epsilon) {
      const Duration at =
          instance.start([&](std::int64_t k) { return std::min(cost(k), cost(k + 1) - last); });
      worst = std::max(worst, instance.finish(at, last));
    }
    ASSERT_GE(bound, worst) << "seed " << seed;
    ++compared;
    exact += bound == worst;
  }
  EXPECT_GT(compared, 2'000);
  EXPECT_GT(exact, compared * 9 / 10);
}

}  // namespace
}  // namespace takt::analysis
