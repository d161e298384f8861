#include <gmock/gmock.h>

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

TEST(CpuSharing, AThreadWithoutReservationHasNoKnownSupply) {
  const auto found = reasons({reservation(2, 10, 10), model::DedicatedSupply{}});
  EXPECT_EQ(found[0], "");
  EXPECT_EQ(found[1],
            "\"e1\" shares cpu 3 with \"e0\", and nothing says what is left for it: give each a "
            "reservation or slots, or one of them another cpu");
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
