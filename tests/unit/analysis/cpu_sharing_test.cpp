#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"

/// Executors that share a processor are never bounded as if each had it alone.
namespace takt::analysis {
namespace {

using model::ExecutorIndex;
using model::ModelBuilder;
using model::ReservationSupply;
using model::Slot;
using model::SlotSupply;

/// Executors with those supplies on cpu 3, each with one timer; their timers' reasons.
std::vector<std::string> reasons(const std::vector<model::Supply>& supplies) {
  ModelBuilder builder;
  for (const model::Supply& supply : supplies) {
    const ExecutorIndex executor = builder.executor(supply);
    builder.model().executors[executor.value()].cpu = 3;
    builder.timer(executor, Duration{1}, model::every(Duration{1000}));
  }
  std::vector<std::string> result;
  for (const CallbackBound& bound : analyze(builder.model()).callbacks) {
    EXPECT_EQ(bound.bound.has_value(), bound.reason.empty());
    result.push_back(bound.reason);
  }
  return result;
}

ReservationSupply reservation(int budget, int period, int deadline) {
  return {Duration{budget}, Duration{period}, Duration{deadline}};
}

TEST(CpuSharing, BandwidthsOfOneProcessorAddUpToItAtMost) {
  // Exactly 1, which no binary fraction is.
  EXPECT_THAT(reasons({reservation(1, 3, 3), reservation(2, 6, 6), reservation(3, 9, 9)}),
              testing::Each(""));
  EXPECT_THAT(
      reasons({reservation(1, 3, 3), reservation(2, 6, 6), reservation(334, 1000, 1000)}),
      testing::Each("the reservations on cpu 3 need 1.00 of it (\"e0\" 0.33, \"e1\" 0.33, \"e2\" "
                    "0.33), and there is 1.00"));
  EXPECT_THAT(reasons({reservation(3, 5, 5), reservation(5, 10, 10)}),
              testing::Each("the reservations on cpu 3 need 1.10 of it (\"e0\" 0.60, \"e1\" 0.50), "
                            "and there is 1.00"));
}

TEST(CpuSharing, DeadlinesBeforePeriodsMustBeMet) {
  // Densities of 2/3 and 1/2 are more than 1, and yet no window demands more than its length.
  EXPECT_THAT(reasons({reservation(2, 10, 3), reservation(3, 10, 6)}), testing::Each(""));
  EXPECT_THAT(reasons({reservation(2, 10, 3), reservation(3, 10, 4)}),
              testing::Each("the reservations on cpu 3 cannot all meet their deadlines: they need "
                            "5 ns within 4 ns"));
}

/// Against the demand of every window.
TEST(CpuSharing, JudgesReservationsAsAllWindowsDo) {
  std::mt19937_64 random(7);
  const auto between = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  int met = 0;
  int missed = 0;
  for (int n = 0; n < 2000; ++n) {
    std::vector<model::Supply> supplies;
    std::vector<ReservationSupply> given;
    std::int64_t all_periods = 1;
    const int count = between(2, 4);
    for (int r = 0; r < count; ++r) {
      const int period = between(2, 12);
      const int deadline = between(1, period);
      given.push_back(reservation(between(1, std::min(deadline, 3)), period, deadline));
      supplies.emplace_back(given.back());
      all_periods = std::lcm(all_periods, std::int64_t{period});
    }
    bool fits = true;
    for (Duration window{1}; window.count() <= 2 * all_periods && fits; ++window) {
      Duration demand{0};
      for (const auto& [budget, period, deadline] : given) {
        if (window >= deadline) demand += ((window - deadline) / period + 1) * budget;
      }
      fits = demand <= window;
    }
    const std::vector<std::string> found = reasons(supplies);
    ASSERT_EQ(found.front().empty(), fits) << n << ": " << found.front();
    ++(fits ? met : missed);
  }
  EXPECT_GT(met, 200);
  EXPECT_GT(missed, 200);
}

ReservationSupply long_reservation(std::int64_t budget, std::int64_t period,
                                   std::int64_t deadline) {
  return {Duration{budget}, Duration{period}, Duration{deadline}};
}

/// There are 5·10^14 deadlines before a window is found from the beginning.
TEST(CpuSharing, ManyShortPeriodsInALongOneAreJudgedAtOnce) {
  EXPECT_THAT(
      reasons({long_reservation(1, 2, 1),
               long_reservation(500'000'000'000'000, 1'000'000'000'000'000, 990'000'000'000'000)}),
      testing::Each("the reservations on cpu 3 cannot all meet their deadlines: they need "
                    "1000000000000000 ns within 999999999999999 ns"));
}

TEST(CpuSharing, WhatTakesTooLongToJudgeIsNoSupply) {
  EXPECT_THAT(
      reasons({long_reservation(99'999'999, 100'000'000, 99'999'999),
               long_reservation(10'000'000, 1'000'000'000'000'000, 1'000'000'000'000'000)}),
      testing::Each(testing::StartsWith(
          "it would take too long to find out whether the reservations on cpu 3 all meet")));
}

TEST(CpuSharing, AThreadWithoutReservationHasNoKnownSupply) {
  const auto found = reasons({reservation(2, 10, 10), model::DedicatedSupply{}});
  EXPECT_EQ(found[0], "");
  EXPECT_EQ(found[1],
            "\"e1\" shares cpu 3 with \"e0\", and nothing says what is left for it: give each a "
            "reservation, a fixed priority or slots, or one of them another cpu");
}

TEST(CpuSharing, SlotsOfOneProcessorDoNotOverlap) {
  // The second's cycle is shorter: its slot comes at 5, 11, 17, 23, … and so, by the common divisor
  // 2, within [1, 2) of every two.
  const SlotSupply even{Duration{8}, {{Duration{2}, Duration{3}}, {Duration{6}, Duration{7}}}};
  const SlotSupply odd{Duration{6}, {{Duration{5}, Duration{6}}}};
  EXPECT_THAT(reasons({even, odd}), testing::Each(""));
  const SlotSupply longer{Duration{6}, {{Duration{4}, Duration{6}}}};
  EXPECT_EQ(reasons({even, longer})[0],
            "slot [2, 3) ns of \"e0\" and slot [4, 6) ns of \"e1\" overlap on cpu 3");
  EXPECT_EQ(reasons({even, reservation(1, 10, 10)})[1],
            "it shares cpu 3 with the slots of \"e0\"; give one of them another cpu");
}

TEST(CpuSharing, ThreadsOfOneExecutorShareIt) {
  ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, model::ExecutorKind::multi_threaded);
  builder.model().executors[0].threads = 2;
  builder.timer(e, Duration{1}, model::every(Duration{100}));
  EXPECT_TRUE(analyze(builder.model()).callbacks[0].bound);
  builder.model().executors[0].cpu = 1;
  EXPECT_EQ(analyze(builder.model()).callbacks[0].reason,
            "the 2 threads of \"e0\" share cpu 1; give it a reservation, or no cpu for one each");
}

}  // namespace
}  // namespace takt::analysis
