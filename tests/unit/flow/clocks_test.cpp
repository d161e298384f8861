#include "takt/flow/clocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

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

/// How a clock may run, and how long messages may take.
struct Course {
  std::string name;
  std::function<double(double)> offset;
  ClockQuality quality;
};

double slewed(double time, double begin, double rate, double length) {
  return rate * std::clamp(time - begin, 0.0, length);
}

std::vector<Course> courses() {
  constexpr double second = 1e9;
  constexpr double turn = 2 * std::numbers::pi;
  const auto wander = [](double time) {  // its rate goes up and down by 1 ppm
    return 1e6 + 20e-6 * time + 1e-6 * 20 * second / turn * std::sin(turn * time / (20 * second));
  };
  const auto ntp = [](double time) {  // another rate every 16 s
    double offset = 3e6;
    double begin = 0;
    for (const double ppm : {5, -20, 12, 30, -7, -25, 3, 17}) {
      offset += slewed(time, begin, ppm * 1e-6, 16 * second);
      begin += 16 * second;
    }
    return offset;
  };
  return {
      {"constant", [](double time) { return 5e9 + 80e-6 * time; }, ClockQuality::accurate},
      {"wandering", wander, ClockQuality::accurate},
      {"slewed by 500 ppm",
       [](double time) {
         return 1e6 + slewed(time, 30 * second, 500e-6, 4 * second) +
                slewed(time, 70 * second, -500e-6, 4 * second);
       },
       ClockQuality::approximate},
      {"slewed less and less",
       [](double time) {
         const double since = std::max(0.0, time - 30 * second);
         return 1e6 + 2e6 * (1 - std::exp(-since / (5 * second)));
       },
       ClockQuality::approximate},
      {"slewed by 10 ppm",
       [](double time) { return 1e6 + slewed(time, 30 * second, 10e-6, 30 * second); },
       ClockQuality::approximate},
      {"kept by NTP", ntp, ClockQuality::approximate},
      {"set forward",
       [](double time) { return 1e6 + 20e-6 * time + (time > 45 * second ? 2e6 : 0); },
       ClockQuality::approximate},
      {"set back", [](double time) { return 1e6 + 20e-6 * time - (time > 45 * second ? 2e6 : 0); },
       ClockQuality::approximate},
  };
}

using Delay = std::function<double(std::mt19937_64&, bool, double)>;

std::vector<std::pair<std::string, Delay>> delays() {
  const auto more = [](std::mt19937_64& random, double mean) {
    return std::exponential_distribution<double>(1 / mean)(random);
  };
  return {{"jitter",
           [more](std::mt19937_64& random, bool, double) { return 1e3 + more(random, 200e3); }},
          {"a long way",
           [more](std::mt19937_64& random, bool, double) { return 50e3 + more(random, 100e3); }},
          {"asymmetric",
           [more](std::mt19937_64& random, bool forward, double) {
             return forward ? 50e3 + more(random, 50e3) : 800e3 + more(random, 400e3);
           }},
          {"bursts", [more](std::mt19937_64& random, bool, double time) {
             const bool is_busy = std::fmod(time, 20e9) < 6e9;
             return 80e3 + (is_busy ? 3e6 + more(random, 2e6) : more(random, 60e3));
           }}};
}

/// At most one percent of the true times are beyond the stated uncertainty, and where the rate is
/// constant and messages can be fast, it is of the size of the errors.
TEST_F(Clocks, TheStatedUncertaintyHoldsHoweverTheClockRuns) {
  for (const double gap : {10e6, 100e6}) {
    for (const Course& course : courses()) {
      for (const auto& [delay_name, delay] : delays()) {
        const std::string name = course.name + ", " + delay_name + ", " + std::to_string(gap);
        estimator = {};
        constexpr double end = 120e9;
        const auto shown = [&course](double time) {
          return Instant(Duration(std::llround(time + course.offset(time))));
        };
        const auto true_time = [](double time) { return Instant(Duration(std::llround(time))); };
        std::uniform_real_distribution<double> pause(0.5, 1.5);
        int number = 0;
        for (double sent = 0; sent < end; sent += gap * pause(random)) {
          const bool forward = number++ % 3 != 0;
          const double received = sent + delay(random, forward, sent);
          if (forward) {
            estimator.add(HostIndex(0), true_time(sent), HostIndex(1), shown(received));
          } else {
            estimator.add(HostIndex(1), shown(sent), HostIndex(0), true_time(received));
          }
        }
        const HostClock clock = estimator.estimate(2)[1];
        std::vector<double> errors;
        std::vector<double> stated;
        int beyond = 0;
        for (double time = 0.2e9; time < end - 0.5e9; time += 7.3e6) {
          const Instant found = clock.to_reference(shown(time));
          const auto uncertainty = clock.uncertainty_at(found);
          ASSERT_TRUE(uncertainty) << name;
          errors.push_back(std::abs(static_cast<double>((found - true_time(time)).count())));
          stated.push_back(static_cast<double>(uncertainty->count()));
          beyond += errors.back() > stated.back() + 2 ? 1 : 0;
        }
        EXPECT_LE(100 * beyond, static_cast<int>(errors.size())) << name;
        if (delay_name == "jitter" && gap < 50e6) {
          EXPECT_EQ(clock.quality, course.quality) << name;
        }
        std::ranges::sort(errors);
        std::ranges::sort(stated);
        if (course.name == "constant" && (delay_name == "jitter" || delay_name == "asymmetric")) {
          EXPECT_LE(stated[stated.size() / 2], 3 * errors[errors.size() * 99 / 100]) << name;
        }
      }
    }
  }
}

TEST_F(Clocks, AClockThatIsSetAllTheTimeHasNoUncertainty) {
  for (int i = 0; i < 1000; ++i) {
    const double time = i * 1e7;
    const double offset = i % 4 < 2 ? 0 : 1e9;
    const Instant now(Duration(std::llround(time)));
    const Instant other(Duration(std::llround(time + offset)));
    if (i % 2 == 0) {
      estimator.add(HostIndex(0), now, HostIndex(1), other);
    } else {
      estimator.add(HostIndex(1), other, HostIndex(0), now);
    }
  }
  const HostClock clock = estimator.estimate(2)[1];
  EXPECT_EQ(clock.quality, ClockQuality::incoherent);
  EXPECT_FALSE(clock.uncertainty_at(Instant{}));
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
