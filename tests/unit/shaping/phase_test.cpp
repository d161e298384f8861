#include "takt/shaping/phase.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace takt::shaping {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Duration period = milliseconds(100);
constexpr Duration delay = milliseconds(2);

Instant at(Duration time) { return Instant(time); }

/// How far the tracker is off at most after its window is full, of a loop whose period is longer by
/// `drift`, with messages up to 3 ms late and one in ten missing.
Duration greatest_error(Duration drift) {
  std::mt19937_64 random(7);
  PhaseTracker tracker(period, delay);
  Duration worst{};
  Duration begin = milliseconds(37);
  for (int cycle = 0; cycle < 1000; ++cycle, begin += period + drift) {
    if (random() % 10 == 0) continue;
    const Duration late(static_cast<std::int64_t>(random() % 4) * 1'000'000);
    tracker.observe(at(begin + delay + late));
    if (cycle < 100) continue;
    const Instant found = tracker.begin(at(begin + period / 2)).value();
    worst = std::max(worst, std::chrono::abs(found - at(begin)));
  }
  return worst;
}

TEST(PhaseTracker, KnowsNothingOfAFewMessages) {
  PhaseTracker tracker(period, delay);
  for (std::size_t i = 0; i + 1 < PhaseTracker::window / 2; ++i) {
    tracker.observe(at(static_cast<std::int64_t>(i) * period));
  }
  EXPECT_FALSE(tracker.begin(at(period)).has_value());
}

TEST(PhaseTracker, FindsTheBeginningBehindLateAndMissingMessages) {
  EXPECT_EQ(greatest_error(Duration{0}), Duration{0});
}

TEST(PhaseTracker, FollowsADriftingLoop) {
  // 50 ppm: the clocks of two machines.
  EXPECT_LE(greatest_error(microseconds(5)), microseconds(1));
  EXPECT_LE(greatest_error(-microseconds(5)), microseconds(1));
}

TEST(PhaseTracker, TheBeginningIsOfTheCycleAsked) {
  PhaseTracker tracker(period, delay);
  for (int i = 0; i < 40; ++i) tracker.observe(at(i * period + delay));
  for (const int cycle : {-5, 0, 3, 39, 1000}) {
    EXPECT_EQ(tracker.begin(at(cycle * period)), at(cycle * period));
    EXPECT_EQ(tracker.begin(at((cycle + 1) * period - epsilon)), at(cycle * period));
  }
}

}  // namespace
}  // namespace takt::shaping
