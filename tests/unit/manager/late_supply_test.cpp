#include "takt/manager/late_supply.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "model_builder.hpp"

/// Threads that did not get the processor time of their reservations, by their own clocks.
namespace takt::manager {
namespace {

using model::ModelBuilder;
using namespace std::chrono_literals;

constexpr Instant at(Duration since) { return Instant{since}; }

/// 3 of every 5 ms: nothing for 4 ms at most, then 3 ms in each period.
const ReservationDecision reservation{"e0", 3ms, 5ms, 5ms, {}};

/// The next run of a thread that goes from run to run without a wait, unless it waits before it.
ThreadRun next(const ThreadRun& before, Duration pause, Duration lasts, Duration cpu,
               std::int64_t waits = 0) {
  return {.start = before.end + pause,
          .end = before.end + pause + lasts,
          .cpu_at_start = before.cpu_at_end,
          .cpu_at_end = before.cpu_at_end + cpu,
          .waits_at_start = before.waits_at_end + waits,
          .waits_at_end = before.waits_at_end + waits};
}

ThreadRun first(Duration lasts, Duration cpu) { return next({}, 0ms, lasts, cpu); }

Duration late(const std::vector<ThreadRun>& runs) {
  return late_supply(runs, reservation, at(0ms), at(1s));
}

TEST(LateSupply, ARunMayTakeAsLongAsItsReservationAllows) {
  EXPECT_EQ(late({first(3ms, 3ms)}), 0ms);
  EXPECT_EQ(late({first(7ms, 3ms)}), 0ms);  // 4 ms without supply come first
  EXPECT_EQ(late({first(12ms, 6ms)}), 0ms);
}

TEST(LateSupply, WhatItTakesBeyondThatIsLate) {
  EXPECT_EQ(late({first(9ms, 3ms)}), 2ms);
  EXPECT_EQ(late({first(20ms, 4ms)}), 20ms - 10ms);
}

/// Between two runs the thread wanted its processor as well, if it has not waited.
TEST(LateSupply, TheTimeBetweenRunsCounts) {
  const ThreadRun run = first(2ms, 2ms);
  EXPECT_EQ(late({run, next(run, 10ms, 1ms, 1ms)}), 13ms - 7ms);
  EXPECT_EQ(late({run, next(run, 10ms, 1ms, 1ms, 1)}), 0ms) << "it slept in between";
}

TEST(LateSupply, ARunThatWaitedIsNotLateByItself) {
  ThreadRun run = first(40ms, 1ms);
  run.waits_at_end = 1;
  EXPECT_EQ(late({run}), 0ms);
  // The next one was short.
  EXPECT_EQ(late({run, next(run, 0ms, 1ms, 1ms)}), 0ms);
}

TEST(LateSupply, OnlyRunsThatEndMeanwhileCount) {
  const std::vector<ThreadRun> runs{first(9ms, 3ms)};
  EXPECT_EQ(late_supply(runs, reservation, at(9ms), at(1s)), 0ms);
  EXPECT_EQ(late_supply(runs, reservation, at(0ms), at(9ms) - Duration{1}), 0ms);
  EXPECT_EQ(late_supply(runs, reservation, at(9ms) - Duration{1}, at(9ms)), 2ms);
}

TEST(LateSupply, OfAChainIsThatOfTheExecutorsItPasses) {
  ModelBuilder builder;
  const auto sends = builder.timer(builder.executor(), 1ms, model::every(50ms));
  const auto takes = builder.timer(builder.executor(), 1ms, model::every(50ms));
  builder.timer(builder.executor(), 1ms, model::every(50ms));
  builder.chain({sends, takes}, 50ms);
  auto& model = builder.model();
  model.chains[0].id = "pilot";
  std::vector<ReservationDecision> reservations;
  for (const model::Executor& executor : model.executors) {
    reservations.push_back({executor.id, 3ms, 5ms, 5ms, {}});
  }
  const auto along = reservations_along(model, "pilot", reservations);
  ASSERT_EQ(along.size(), 2U);
  EXPECT_TRUE(reservations_along(model, "other", reservations).empty());
  const auto runs = [&](const std::string& executor, Instant after) {
    EXPECT_EQ(after, at(0ms) - 20ms);
    EXPECT_NE(executor, model.executors[2].id);
    const Duration more = executor == model.executors[0].id ? 1ms : 2ms;
    return std::vector<std::vector<ThreadRun>>{{first(3ms, 3ms)}, {first(7ms + more, 3ms)}};
  };
  const auto late = late_supply(along, runs, at(0ms) - 20ms, at(0ms), at(30ms));
  EXPECT_EQ(late, (LateSupply{3ms, model.executors[1].id}));
}

}  // namespace
}  // namespace takt::manager
