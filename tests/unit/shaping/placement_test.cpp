#include "takt/shaping/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

namespace takt::shaping {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;

Profile profile_of(const std::vector<double>& values) {
  std::vector<Duration> latencies;
  for (const double value : values) {
    latencies.push_back(Duration(std::llround(value * 1e6)));
  }
  return Profile::of(latencies).value();
}

/// The samples of performance-engineering, fact 25.
Profile ten() { return profile_of({40, 50, 55, 60, 62, 66, 70, 74, 80, 84}); }

/// The options of fact 26: slots of 1 ms on a grid of 1 ms, the last one ends at 87 ms.
PlacementOptions fact_26(std::size_t bands) {
  return {.cycle = milliseconds(100), .bands = bands, .slack = milliseconds(2)};
}

double cost_of(const Profile& profile, const std::vector<int>& ends) {
  double cost = 0;
  std::size_t left = 0;
  for (const int end : ends) {
    const std::size_t gone = profile.at_most(milliseconds(end));
    cost += static_cast<double>(gone - left) / static_cast<double>(profile.count()) * end;
    left = gone;
  }
  return cost;
}

std::vector<std::int64_t> ends_of(const Placement& placement) {
  std::vector<std::int64_t> ends;
  for (const Band& band : placement.bands) ends.push_back(band.slot.end / milliseconds(1));
  return ends;
}

TEST(ShapingFact, P23_AChainMustEndWithinItsPeriod) {
  const Profile profile = profile_of({32.9, 84.7});
  EXPECT_NEAR(static_cast<double>(profile.max().count()) / 100e6, 0.847, 1e-12);
  EXPECT_TRUE(place(profile, {.cycle = milliseconds(100)}).has_value());
  const auto refused = place(profile, {.cycle = microseconds(84700)});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("takes up to 84.7 ms"));
}

TEST(ShapingFact, P24_AnOutputLeavesInTheFirstSlotThatItDoesNotMiss) {
  std::vector<Band> bands;
  for (const int start : {62, 77, 86}) {
    bands.push_back({.slot = {milliseconds(start), milliseconds(start + 1)}});
  }
  const Duration copying = microseconds(100);
  EXPECT_EQ(departure(bands, microseconds(50400), copying), microseconds(62100));
  EXPECT_EQ(departure(bands, microseconds(63000), copying), microseconds(77100));
  EXPECT_EQ(departure(bands, microseconds(78500), copying), microseconds(86100));
  EXPECT_EQ(departure(bands, microseconds(62500), copying), microseconds(62600));
  EXPECT_EQ(departure(bands, microseconds(87000), copying), std::nullopt);
}

TEST(ShapingFact, P25_ExpectedLatencyOfEquation41) {
  EXPECT_DOUBLE_EQ(cost_of(ten(), {87}), 87.0);
  EXPECT_DOUBLE_EQ(cost_of(ten(), {51, 71, 87}), 71.8);
  EXPECT_DOUBLE_EQ(ten().mean() / 1e6, 64.1);
}

TEST(ShapingFact, P26_OptimaOfTheTenSamples) {
  const std::vector<double> optima = {87.0, 74.4, 70.6, 68.2, 67.2, 66.3, 65.7};
  for (std::size_t bands = 1; bands <= optima.size(); ++bands) {
    const auto placement = place(ten(), fact_26(bands));
    ASSERT_TRUE(placement.has_value()) << placement.error().message;
    EXPECT_NEAR(placement->cost / 1e6, optima[bands - 1], 1e-9) << bands;
    const std::vector<std::int64_t> ends = ends_of(*placement);
    EXPECT_NEAR(cost_of(ten(), {ends.begin(), ends.end()}), optima[bands - 1], 1e-9) << bands;
  }
}

TEST(ShapingFact, P27_MoreSlotsNeverChangeTheWorstCase) {
  for (std::size_t bands = 1; bands <= 8; ++bands) {
    EXPECT_EQ(place(ten(), fact_26(bands))->bands.back().slot.end, milliseconds(87));
  }
}

// The dynamic program against all placements there are.

struct Case {
  std::vector<double> latencies;
  PlacementOptions options;
};

Case random_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  Case made;
  const int count = between(1, 30);
  for (int i = 0; i < count; ++i) made.latencies.push_back(between(40, 180) / 10.0);
  PlacementOptions& options = made.options;
  options.cycle = milliseconds(40);
  options.bands = static_cast<std::size_t>(between(1, 4));
  options.slot_length = microseconds(500 * between(1, 3));
  options.slack = milliseconds(between(0, 2));
  if (between(0, 1) == 1) options.freshness = milliseconds(between(3, 12));
  if (between(0, 1) == 1) options.publish_time = microseconds(100 * between(1, 5));
  if (between(0, 1) == 1) options.tail = 0.1 * between(1, 9);
  if (between(0, 1) == 1) options.confidence = 0.9;
  return made;
}

/// The mean of the `1 - tail` longest latencies, by its definition, over the distribution that has
/// the least probability of short latencies within the confidence band.
double definition(const Profile& profile, const PlacementOptions& options,
                  const std::vector<Duration>& starts) {
  const double band =
      options.confidence ? confidence_band(profile.count(), *options.confidence) : 0;
  double total = 0;
  double before = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Duration end = starts[i] + options.slot_length;
    const Duration ready = end - options.publish_time.value_or(Duration{0});
    const double observed =
        static_cast<double>(profile.at_most(ready)) / static_cast<double>(profile.count());
    const double share = i + 1 == starts.size() ? 1 : std::max(0.0, observed - band);
    const Duration latency = starts[i] + options.publish_time.value_or(options.slot_length);
    const double in_tail = std::max(share, options.tail) - std::max(before, options.tail);
    total += in_tail * static_cast<double>(latency.count());
    before = share;
  }
  return total / (1 - options.tail);
}

double exhaustive(const Profile& profile, const PlacementOptions& options) {
  const auto up = [&](Duration time) {
    return (time + options.grid - epsilon) / options.grid * options.grid;
  };
  const Duration last = up(up(profile.max()) + options.slack);
  double best = std::numeric_limits<double>::infinity();
  std::vector<Duration> starts;
  const std::function<void(Duration)> extend = [&](Duration from) {
    if (starts.size() + 1 == options.bands) {
      const bool apart = starts.empty() || starts.back() + options.slot_length < last;
      const bool fresh =
          starts.empty() || !options.freshness || last - starts.back() <= *options.freshness;
      if (!apart || !fresh) return;
      starts.push_back(last);
      best = std::min(best, definition(profile, options, starts));
      starts.pop_back();
      return;
    }
    for (Duration start = from; start < last; start += options.grid) {
      if (!starts.empty()) {
        if (starts.back() + options.slot_length >= start) continue;
        if (options.freshness && start - starts.back() > *options.freshness) break;
      }
      starts.push_back(start);
      extend(start + options.grid);
      starts.pop_back();
    }
  };
  // C1: no slot before the shortest latency has passed.
  extend(profile.min() / options.grid * options.grid + options.grid);
  return best;
}

class RandomPlacement : public testing::TestWithParam<int> {};

TEST_P(RandomPlacement, EqualsTheBestOfAllAndIsNeverWorseThanTheSwarm) {
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Case made = random_case(static_cast<std::uint64_t>(GetParam()) * 1000 + i);
    const Profile profile = profile_of(made.latencies);
    const double best = exhaustive(profile, made.options);
    const auto found = place(profile, made.options);
    ASSERT_EQ(found.has_value(), std::isfinite(best)) << (found ? "" : found.error().message);
    if (!found) continue;
    EXPECT_NEAR(found->cost, best, 1e-6 * best) << made.options.bands << " bands";
    const auto swarm = place_by_swarm(profile, made.options, i);
    if (swarm) {
      EXPECT_GE(swarm->cost, found->cost - 1e-6 * best);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlacement, testing::Range(0, 4));

TEST(Placement, TheSwarmFindsTheOptimumOfASmallCase) {
  EXPECT_NEAR(place_by_swarm(ten(), fact_26(3), 1)->cost / 1e6, 70.6, 1e-9);
}

TEST(Placement, SharesAndLatenciesOfThePublishTime) {
  PlacementOptions options = fact_26(2);
  options.publish_time = microseconds(200);
  const Placement placement = place(ten(), options).value();
  double total = 0;
  for (const Band& band : placement.bands) {
    EXPECT_EQ(band.latency, band.slot.start + microseconds(200));
    total += band.share;
  }
  EXPECT_DOUBLE_EQ(total, 1);
  // Five leave 62.2 ms after the beginning and five 86.2 ms, or six 66.2 ms and four 86.2 ms: a
  // slot that ends at 66 ms would be too late for the output of 66 ms.
  EXPECT_NEAR(placement.cost / 1e6, 74.2, 1e-9);
}

TEST(Placement, ConfidenceNeverLowersTheCostAndVanishesWithTheNumberOfObservations) {
  PlacementOptions options = fact_26(3);
  const double observed = place(ten(), options)->cost;
  options.confidence = 0.95;
  const double robust = place(ten(), options)->cost;
  EXPECT_GT(robust, observed);
  std::vector<Duration> many;
  for (int i = 0; i < 100'000; ++i) {
    many.push_back(ten().latencies()[static_cast<std::size_t>(i % 10)]);
  }
  EXPECT_NEAR(place(Profile::of(many).value(), options)->cost, observed, 0.01 * observed);
  EXPECT_NEAR(confidence_band(100, 0.95), std::sqrt(std::log(20.0) / 200), 1e-12);
  EXPECT_NEAR(std::pow(1 - share_beyond(100, 0.95), 100), 0.05, 1e-12);
}

TEST(Placement, TheTailAloneIsOptimisedByCvar) {
  PlacementOptions options = fact_26(3);
  options.tail = 0.8;  // 80 and 84 ms, for which there is a slot each before the last
  const Placement placement = place(ten(), options).value();
  EXPECT_NEAR(placement.cost / 1e6, (80 + 84) / 2.0, 1e-9);
}

TEST(Placement, FreshnessKeepsSlotsTogether) {
  PlacementOptions options = fact_26(3);
  options.freshness = milliseconds(10);
  const std::vector<std::int64_t> ends = ends_of(place(ten(), options).value());
  EXPECT_LE(ends[2] - ends[1], 10);
  EXPECT_LE(ends[1] - ends[0], 10);
}

TEST(Placement, MistakesAreExplained) {
  const auto message = [](const PlacementOptions& options) {
    const auto placement = place(ten(), options);
    return placement ? std::string() : placement.error().message;
  };
  EXPECT_THAT(message(fact_26(40)), HasSubstr("at most 23 do"));
  PlacementOptions options = fact_26(2);
  options.freshness = milliseconds(1);
  EXPECT_THAT(message(options), HasSubstr("freshness"));
  options = fact_26(2);
  options.grid = Duration(1);
  options.slot_length = Duration(1);
  EXPECT_THAT(message(options), HasSubstr("coarser grid"));
  options = fact_26(2);
  options.cycle = milliseconds(86);
  EXPECT_THAT(message(options), HasSubstr("after the cycle"));
  EXPECT_THAT(Profile::of({}).error().message, HasSubstr("no latency"));
}

TEST(Placement, TenBandsOverAMillionObservations) {
  std::mt19937_64 random(1);
  std::vector<Duration> latencies(1'000'000);
  for (Duration& latency : latencies) {
    std::int64_t sum = 0;
    for (int i = 0; i < 5; ++i) sum += 5'000'000 + static_cast<std::int64_t>(random() % 10'000'000);
    latency = Duration(sum);
  }
  const Profile profile = Profile::of(std::move(latencies)).value();
  PlacementOptions options{.cycle = milliseconds(100),
                           .bands = 10,
                           .grid = microseconds(10),
                           .slot_length = microseconds(100)};
  const Placement ten_bands = place(profile, options).value();
  options.bands = 9;
  EXPECT_LT(ten_bands.cost, place(profile, options)->cost);
  EXPECT_GT(ten_bands.cost, profile.mean());
}

}  // namespace
}  // namespace takt::shaping
