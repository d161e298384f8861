#include "busy_window/offset_sweep.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <list>
#include <span>
#include <vector>

#include "takt/generation/random.hpp"

namespace takt::analysis {
namespace {

using curves::ActivationCurve;
using curves::SupplyBound;

/// Random callbacks with the curves that they refer to.
struct Callbacks {
  std::list<Cost> costs;
  std::list<ActivationCurve> given;
  std::list<curves::ActivationSource> sources;
  std::list<curves::DerivedCurve> curves;

  Interferer add(generation::Random& random) {
    std::vector<Duration> cost{Duration{random.between(1, 6)}};
    if (random.chance(40)) cost.push_back(cost[0] + Duration{random.between(0, cost[0].count())});
    given.push_back(ActivationCurve::periodic(Duration{random.between(20, 60)},
                                              Duration{random.between(0, 80)}));
    sources.push_back({&given.back()});
    curves::DerivedCurve& curve = curves.emplace_back();
    curve.add(sources.back());
    curve.finish();
    return {.callback = model::CallbackIndex{costs.size()},
            .cost = &costs.emplace_back(cost, std::vector<Duration>{}),
            .activations = &curve,
            .limit = std::nullopt};
  }
};

OffsetSweep sweep_of(const SupplyBound& supply, Effort& effort, Duration blocking,
                     const Interferer& self, std::span<const Interferer> others, Duration length) {
  OffsetSweep sweep(supply, effort);
  sweep.begin(Blockers(Blocking{.time = blocking, .callback = {}}), self, length);
  for (const Interferer& other : others) sweep.add(other);
  return sweep;
}

TEST(OffsetSweep, EqualsTheMaximumOverEveryOffset) {
  int swept = 0;
  Effort effort;
  effort.allow(std::numeric_limits<std::int64_t>::max());
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    generation::Random random(seed);
    Callbacks callbacks;
    const Interferer self = callbacks.add(random);
    std::vector<Interferer> others;
    for (std::int64_t n = random.between(0, 4); n > 0; --n) {
      others.push_back(callbacks.add(random));
      if (random.chance(70)) {
        others.back().limit = {.reach = Duration{random.chance(50) ? 0 : random.between(-10, 30)},
                               .extra = random.between(0, 3)};
      }
    }
    const auto supply = SupplyBound::reservation(Duration{7}, Duration{10}, Duration{9});
    const Duration blocking{random.between(0, 5)};
    BusyWindow window(supply, {Duration{3'000}, effort}, self, others,
                      Blockers(Blocking{.time = blocking, .callback = {}}));
    const Duration length = window.length();
    if (length == curves::unbounded_time) continue;
    Duration longest = epsilon;
    for (Duration offset{0}; offset < length; offset += epsilon) {
      longest = std::max(longest, window.complete(offset, epsilon).finish - offset);
    }
    OffsetSweep sweep = sweep_of(supply, effort, blocking, self, others, length);
    const LongestResponse whole = sweep.longest_response(curves::unbounded_time);
    EXPECT_EQ(whole.response, longest) << seed;
    const Completion witness = window.complete(whole.offset, epsilon);
    EXPECT_EQ(witness.finish - whole.offset, longest) << seed;
    EXPECT_EQ(witness.start, whole.start) << seed;
    EXPECT_FALSE(sweep.failed()) << seed;

    // With one less of each at first, and interrupted wherever a longer response is found.
    for (Interferer& other : others) {
      if (other.limit) --other.limit->extra;
    }
    OffsetSweep interrupted = sweep_of(supply, effort, blocking, self, others, length);
    Duration found = interrupted.longest_response(epsilon + epsilon).response;
    ASSERT_TRUE(interrupted.at_first_offset());
    interrupted.admit(1);
    for (bool longer = true; longer;) {
      longer = found < interrupted.longest_response(found + epsilon).response;
      found = interrupted.longest_response(Duration{0}).response;
    }
    EXPECT_EQ(found, longest) << seed;
    ++swept;
  }
  EXPECT_GT(swept, 200);
}

}  // namespace
}  // namespace takt::analysis
