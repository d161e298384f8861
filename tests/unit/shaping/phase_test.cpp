#include "takt/shaping/phase.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstddef>
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
  for (int round = 0; round < 1000; ++round, begin += period + drift) {
    if (random() % 10 == 0) continue;
    const Duration late(static_cast<std::int64_t>(random() % 4) * 1'000'000);
    tracker.observe(at(begin + delay + late));
    if (round < 100) continue;
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
  for (const int round : {-5, 0, 3, 39, 1000}) {
    EXPECT_EQ(tracker.begin(at(round * period)), at(round * period));
    EXPECT_EQ(tracker.begin(at((round + 1) * period - epsilon)), at(round * period));
  }
}

TEST(PhaseTracker, TellsTheDrift) {
  PhaseTracker tracker(period, delay);
  EXPECT_FALSE(tracker.drift().has_value());
  for (int i = 0; i < 100; ++i) tracker.observe(at(i * (period + microseconds(5))));
  EXPECT_NEAR(tracker.drift().value(), 50e-6, 1e-9);
}

/// Two messages side by side are the earliest: what is between them is not the loop's drift.
TEST(PhaseTracker, TwoEarlyMessagesAreNoDrift) {
  for (std::size_t count = PhaseTracker::window / 2; count <= PhaseTracker::window; count += 2) {
    PhaseTracker tracker(period, delay);
    for (std::size_t i = 0; i < count; ++i) {
      const Duration late = i == count / 2 ? Duration{0} : milliseconds(i + 1 == count / 2 ? 2 : 3);
      tracker.observe(at(static_cast<std::int64_t>(i) * period + delay + late));
    }
    // Twice 3 ms over half a window of 100 ms each.
    EXPECT_LE(std::abs(tracker.drift().value()), 2e-3) << count << " messages";
  }
}

TEST(PhaseTracker, FollowsALoopThatBeganAnewAtAnotherPhase) {
  for (const Duration jump : {milliseconds(30), -milliseconds(30)}) {
    PhaseTracker tracker(period, delay);
    for (int i = 0; i < 100; ++i) tracker.observe(at(i * period + delay));
    const int enough = PhaseTracker::window / 2;
    for (int i = 100; i + 1 < 100 + enough; ++i) {
      tracker.observe(at(i * period + delay + jump));
      ASSERT_EQ(tracker.begin(at(i * period + period / 2)), at(i * period)) << "not sure yet";
    }
    EXPECT_EQ(tracker.relocks(), 0);
    tracker.observe(at((99 + enough) * period + delay + jump));
    EXPECT_EQ(tracker.relocks(), 1);
    EXPECT_EQ(tracker.begin(at(200 * period + jump + period / 2)), at(200 * period + jump));
  }
}

TEST(PhaseTracker, SomeMessagesThatAreFarOffChangeNothing) {
  PhaseTracker tracker(period, delay);
  for (int i = 0; i < 100; ++i) {
    // One in ten is of something else.
    tracker.observe(at(i * period + delay + (i % 10 == 9 ? milliseconds(40) : Duration{0})));
    if (i < static_cast<int>(PhaseTracker::window)) continue;
    ASSERT_EQ(tracker.begin(at(i * period + period / 2)), at(i * period));
  }
  EXPECT_EQ(tracker.relocks(), 0);
}

TEST(PhaseTracker, MakesSomethingOfAnyMessages) {
  for (int seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    PhaseTracker tracker(period, delay);
    Instant when = at(Duration{0});
    for (int i = 0; i < 500; ++i) {
      const auto step = static_cast<std::int64_t>(random() % 4);
      when += Duration(step * static_cast<std::int64_t>(random() % 80'000'000));
      tracker.observe(when);
      const auto begin = tracker.begin(when);
      if (!begin) continue;
      ASSERT_LE(*begin, when);
      ASSERT_GT(*begin + 2 * period, when);
    }
  }
}

}  // namespace
}  // namespace takt::shaping
