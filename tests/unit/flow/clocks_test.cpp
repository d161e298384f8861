#include "takt/flow/clocks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace takt::flow {
namespace {

/// A clock whose offset and drift the test knows.
struct Truth {
  double offset = 0;
  double drift = 0;

  [[nodiscard]] Instant show(double time) const {
    return Instant(Duration(std::llround(time + offset + drift * time)));
  }
};

/// Expects that a clock is never further off, within a minute, than the uncertainty that it states.
void expect_known(const HostClock& clock, const Truth& reference, const Truth& truth) {
  for (double time = 0; time <= 60e9; time += 1e9) {
    const Instant expected = reference.show(time);
    const Instant found = clock.to_reference(truth.show(time));
    const auto uncertainty = clock.uncertainty_at(expected);
    ASSERT_TRUE(uncertainty);
    EXPECT_LE(std::abs((found - expected).count()), uncertainty->count() + 2) << time;
  }
}

class Clocks : public testing::Test {
 protected:
  std::mt19937_64 random{1};
  ClockEstimator estimator;

  /// Messages for a minute, each of which takes 50 µs and sometimes much more.
  void exchange(std::size_t a, const Truth& clock_a, std::size_t b, const Truth& clock_b,
                bool both = true) {
    std::exponential_distribution<double> more(1 / 200e3);
    for (double time = 0; time <= 60e9; time += 7e6) {
      const bool back = both && static_cast<std::int64_t>(time / 7e6) % 3 == 0;
      const double received = time + 50e3 + more(random);
      if (back) {
        estimator.add(HostIndex(b), clock_b.show(time), HostIndex(a), clock_a.show(received));
      } else {
        estimator.add(HostIndex(a), clock_a.show(time), HostIndex(b), clock_b.show(received));
      }
    }
  }
};

TEST_F(Clocks, OffsetAndDriftAreRecoveredWithinTheStatedUncertainty) {
  for (const auto& [offset, ppm] :
       {std::pair(5e9, 0.0), {5e9, 80.0}, {-3e6, -120.0}, {0.0, 30.0}}) {
    estimator = {};
    const Truth reference;
    const Truth other{offset, ppm * 1e-6};
    exchange(0, reference, 1, other);
    const auto clocks = estimator.estimate(2);
    ASSERT_EQ(clocks[1].quality, ClockQuality::accurate);
    expect_known(clocks[1], reference, other);
    // A message needs 50 µs at least, so nobody can know better than that; and not much worse.
    EXPECT_LT(clocks[1].uncertainty_at(Instant(Duration(30'000'000'000)))->count(), 120'000);
    // Off by 120 µs in opposite directions at both ends of the minute, the line would turn by that.
    EXPECT_NEAR(clocks[1].drift, ppm * 1e-6, 2 * 120e3 / 60e9);
  }
}

TEST_F(Clocks, HostsAreReachedAlongOthersAndTheUncertaintiesAddUp) {
  const Truth reference;
  const Truth middle{2e9, 40e-6};
  const Truth far{-7e9, -60e-6};
  exchange(0, reference, 1, middle);
  exchange(1, middle, 2, far);
  const auto clocks = estimator.estimate(3);
  expect_known(clocks[1], reference, middle);
  expect_known(clocks[2], reference, far);
  EXPECT_GT(clocks[2].uncertainty_at(Instant(Duration(30'000'000'000))),
            clocks[1].uncertainty_at(Instant(Duration(30'000'000'000))));
}

TEST_F(Clocks, AReferenceMayBeTheSecondOfAPair) {
  const Truth reference;
  const Truth middle{2e9, 40e-6};
  const Truth far{-7e9, -60e-6};
  exchange(1, far, 2, middle);
  exchange(0, reference, 2, middle);
  expect_known(estimator.estimate(3)[1], reference, far);
}

TEST_F(Clocks, MessagesInOneDirectionGiveNoUncertainty) {
  exchange(0, {}, 1, {5e9, 0}, false);
  const auto clocks = estimator.estimate(2);
  EXPECT_EQ(clocks[1].quality, ClockQuality::one_way);
  EXPECT_FALSE(clocks[1].uncertainty_at(Instant{}));
  // The line rests on the fastest messages. The fastest of 8571 takes 200 µs / 8571 longer than 50
  // µs on average; the other one that the line rests on may take a hundred times that.
  EXPECT_NEAR(clocks[1].offset, 5e9 + 50e3, 100 * 200e3 / 8571);
}

TEST_F(Clocks, WithoutMessagesTheHostsAreBelieved) {
  const auto clocks = estimator.estimate(2);
  EXPECT_EQ(clocks[0].quality, ClockQuality::reference);
  EXPECT_EQ(clocks[1].quality, ClockQuality::absent);
  EXPECT_EQ(clocks[1].to_reference(Instant(Duration(77))), Instant(Duration(77)));
}

TEST_F(Clocks, ClocksThatShowAnythingHaveTimesThatFitAndStayInOrder) {
  // The second clock is set by centuries while it runs, back and forth.
  for (std::int64_t i = 0; i < 20; ++i) {
    const Instant time(Duration(i * 1'000));
    const Instant other(i % 2 == 0 ? longest_time : -longest_time);
    estimator.add(HostIndex(0), time, HostIndex(1), other);
    estimator.add(HostIndex(1), other, HostIndex(0), time);
    estimator.add(HostIndex(2), time, HostIndex(1), other);
  }
  for (const HostClock& clock : estimator.estimate(3)) {
    Instant before = Instant(-longest_time);
    for (const Duration shown : {-longest_time, Duration(0), longest_time}) {
      const Instant reference = clock.to_reference(Instant(shown));
      EXPECT_GE(reference, before);
      EXPECT_LE(reference, Instant(longest_time));
      before = reference;
    }
  }
}

TEST_F(Clocks, AlignedTimesKeepTheirOrder) {
  exchange(0, {}, 1, {5e9, 900e-6});
  const HostClock clock = estimator.estimate(2)[1];
  for (std::int64_t time = 0; time < 5000; ++time) {
    EXPECT_LE(clock.to_reference(Instant(Duration(time))),
              clock.to_reference(Instant(Duration(time + 1))));
  }
}

}  // namespace
}  // namespace takt::flow
