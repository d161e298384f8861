#include "takt/flow/timer_grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace takt::flow {
namespace {

using testing::ElementsAre;

execution::CallbackInstance started_at(std::int64_t start) {
  execution::CallbackInstance instance;
  instance.start = Instant(Duration(start));
  instance.chosen = instance.start;
  return instance;
}

/// The due times as they are known in the end, in nanoseconds.
std::vector<std::int64_t> due_times(TimerGrid& grid,
                                    const std::vector<execution::CallbackInstance>& instances) {
  std::vector<std::int64_t> due;
  for (const auto& instance : instances) {
    due.push_back(grid.add(instance).time_since_epoch().count());
  }
  for (std::int64_t& time : due) {
    time += grid.correction().count();
  }
  return due;
}

TEST(TimerGrid, AnEarlierStartProvesAnEarlierGrid) {
  TimerGrid grid(Duration(100));
  EXPECT_THAT(due_times(grid, {started_at(1030), started_at(1110), started_at(1205),
                               started_at(1300), started_at(1455)}),
              ElementsAre(1000, 1100, 1200, 1300, 1400));
  EXPECT_EQ(grid.correction(), Duration(-30));
}

TEST(TimerGrid, PointsThatPassWhileLateAreSkippedAsRclDoes) {
  TimerGrid grid(Duration(100));
  EXPECT_THAT(due_times(grid, {started_at(1000),
                               started_at(1350),    // late by 2.5 periods
                               started_at(1400)}),  // 1200 and 1300 are lost
              ElementsAre(1000, 1100, 1400));
}

TEST(TimerGrid, ASleepOverTheDueTimeMeansThatTheTimerWasReset) {
  TimerGrid grid(Duration(100));
  execution::CallbackInstance instance = started_at(1252);
  instance.wait_begin = Instant(Duration(1010));
  instance.wait_end = Instant(Duration(1250));
  EXPECT_THAT(due_times(grid, {started_at(1000), instance, started_at(1350)}),
              ElementsAre(1000, 1250, 1350));
}

TEST(TimerGrid, AFirstInstanceThatWasLateIsForgotten) {
  TimerGrid grid(Duration(100));
  // Points at 0, 100 …: the first is late by 90, the second so much that a point is skipped. From
  // then on each is in time; taken for late ones, they would have been due 10 before.
  EXPECT_THAT(due_times(grid, {started_at(90), started_at(215), started_at(300), started_at(400),
                               started_at(500)}),
              ElementsAre(0, 100, 300, 400, 500));
}

TEST(TimerGrid, ACallbackThatBeginsLongAfterItsTimerWasCalledDoesNoLastingHarm) {
  TimerGrid grid(Duration(100));
  std::vector<execution::CallbackInstance> instances = {started_at(1000), started_at(1101),
                                                        started_at(1200)};
  // Called at 1301, preempted until 1430; the timer is due again at 1400.
  instances.push_back(started_at(1430));
  instances.back().chosen = Instant(Duration(1300));
  for (const std::int64_t start : {1470, 1500, 1601, 1700}) instances.push_back(started_at(start));
  EXPECT_THAT(due_times(grid, instances),
              ElementsAre(1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700));
}

TEST(TimerGrid, APointIsAnsweredOnceThoughTheExecutorChoseBeforeIt) {
  TimerGrid grid(Duration(100));
  std::vector<execution::CallbackInstance> instances;
  for (const std::int64_t start : {1003, 1102, 1202, 1302, 1402}) {
    instances.push_back(started_at(start));
    instances.back().chosen = instances.back().start - Duration(2);
  }
  EXPECT_THAT(due_times(grid, instances), ElementsAre(1002, 1102, 1202, 1302, 1402));
}

/// A timer of rcl on points that are multiples of 1000, less `phase`. Its executor waits whenever
/// it can.
class Timer {
 public:
  explicit Timer(std::int64_t phase) : next_(-phase) {}

  /// Calls it so late because the executor is busy until then; returns when it was due.
  std::pair<std::int64_t, execution::CallbackInstance> call(std::int64_t late) {
    const std::int64_t due = next_;
    execution::CallbackInstance instance = started_at(due + late);
    instance.wait_begin = Instant(Duration(std::exchange(called_, due + late) + 1));
    instance.wait_end = Instant(Duration(late < 10 ? due + late : std::min(due - 1, called_)));
    next_ += 1000;
    if (next_ < called_) next_ += (called_ - next_ + 999) / 1000 * 1000;
    return {due, instance};
  }

 private:
  std::int64_t next_;
  std::int64_t called_ = -1'000'000;
};

TEST(TimerGrid, NoInstanceStartsBeforeItsTimerIsDue) {
  for (unsigned seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto up_to = [&](int most) {
      return std::uniform_int_distribution<int>(0, most)(random);
    };
    TimerGrid grid((Duration(1000)));
    std::vector<execution::CallbackInstance> instances;
    std::int64_t now = 5000;
    for (int phase = 0; phase < 4; ++phase) {
      const bool sleeps = up_to(1) == 1;  // wakes late, again and again
      const int jitter = 1 + up_to(100);
      for (int i = 0; i < 20; ++i) {
        instances.push_back(started_at(now));
        if (sleeps) {
          instances.back().wait_begin = Instant(Duration(now - 990));
          instances.back().wait_end = instances.back().start;
        }
        now += 1000 - jitter / 2 + up_to(jitter);
      }
      now += up_to(999);
    }
    const auto due = due_times(grid, instances);
    for (std::size_t i = 0; i < due.size(); ++i) {
      ASSERT_LE(due[i], instances[i].start.time_since_epoch().count()) << i;
    }
  }
}

/// How late the instances are in the end, in nanoseconds: the least and the most.
std::pair<std::int64_t, std::int64_t> lateness(
    TimerGrid& grid, const std::vector<execution::CallbackInstance>& instances) {
  const auto due = due_times(grid, instances);
  std::pair<std::int64_t, std::int64_t> range{INT64_MAX, INT64_MIN};
  for (std::size_t i = 0; i < due.size(); ++i) {
    const std::int64_t late = instances[i].start.time_since_epoch().count() - due[i];
    range = {std::min(range.first, late), std::max(range.second, late)};
  }
  return range;
}

TEST(TimerGrid, WhatIsLearnedAfterATimerWasResetDoesNotChangeWhatWasBefore) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto up_to = [&](int most) {
      return std::uniform_int_distribution<int>(0, most)(random);
    };
    TimerGrid grid((Duration(1000)));
    std::vector<execution::CallbackInstance> instances;
    std::int64_t due = 5000;
    for (int i = 0; i < 10'000; ++i, due += 1000) {
      if (up_to(3) == 0) due += up_to(999);  // a watchdog
      instances.push_back(started_at(due + up_to(50)));
    }
    const auto [least, most] = lateness(grid, instances);
    EXPECT_GE(least, 0);
    // A reset looks like up to two periods of lateness; what is learned adds less than two.
    EXPECT_LE(most, 4000);
  }
}

TEST(TimerGrid, AFirstInstanceMayBeLateByMoreThanAPeriod) {
  TimerGrid grid(Duration(100));
  EXPECT_THAT(due_times(grid, {started_at(1000), started_at(1005), started_at(1102),
                               started_at(1201), started_at(1299), started_at(1398)}),
              ElementsAre(898, 998, 1098, 1198, 1298, 1398));
}

/// The shortest distance of two due times that follow each other.
std::int64_t shortest_distance(TimerGrid& grid,
                               const std::vector<execution::CallbackInstance>& instances) {
  std::int64_t shortest = INT64_MAX;
  std::optional<Instant> last;
  for (const auto& instance : instances) {
    static_cast<void>(grid.add(instance));
    if (last) shortest = std::min(shortest, (grid.spaced() - *last).count());
    last = grid.spaced();
  }
  return shortest;
}

TEST(TimerGrid, WhatIsLearnedOfANewGridIsNoShorterDistance) {
  std::mt19937 random(1);
  const auto up_to = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  TimerGrid grid((Duration(1000)));
  std::vector<execution::CallbackInstance> instances;
  std::int64_t due = 5000;
  for (int i = 0; i < 1'000; ++i, due += 1000) {
    if (i % 100 == 0) due += up_to(999);  // a reset
    instances.push_back(started_at(due + up_to(50)));
  }
  EXPECT_EQ(shortest_distance(grid, instances), 1000);
}

TEST(TimerGrid, AShorterPeriodIsSeen) {
  TimerGrid grid((Duration(1000)));
  std::vector<execution::CallbackInstance> instances;
  for (int i = 0; i < 100; ++i) instances.push_back(started_at(5000 + i * 500));
  EXPECT_LE(shortest_distance(grid, instances), 500);
}

TEST(TimerGrid, ATimerOfAFasterClockKeepsToNoGrid) {
  struct Case {
    std::int64_t distance;
    int jitter;
    std::int64_t most_late;
  };
  for (const Case& given : {Case{50'000, 300, 200'000}, Case{90'909, 300, 200'000},
                            Case{99'000, 300, 20'000}, Case{99'900, 300, 10'000}}) {
    SCOPED_TRACE(given.distance);
    std::mt19937 random(1);
    TimerGrid grid((Duration(100'000)));
    std::vector<execution::CallbackInstance> instances;
    for (std::int64_t i = 0; i < 10'000; ++i) {
      const int late = std::uniform_int_distribution<int>(0, given.jitter)(random);
      instances.push_back(started_at(1'000'000 + i * given.distance + late));
    }
    const auto [least, most] = lateness(grid, instances);
    EXPECT_GE(least, 0);
    EXPECT_LE(most, given.most_late);
  }
}

TEST(TimerGrid, IsThatOfRclWhateverHappenedBeforeItWasInTime) {
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto up_to = [&](int most) {
      return std::uniform_int_distribution<int>(0, most)(random);
    };
    Timer timer(up_to(999));
    TimerGrid grid((Duration(1000)));
    for (int i = up_to(20); i >= 0; --i) (void)grid.add(timer.call(up_to(2500)).second);
    // Each call is late by at most 5 from now on, so two in a row leave at most 5 for the points.
    std::int64_t far = 0;
    for (int i = 0; i < 30; ++i) {
      const auto [due, instance] = timer.call(i == 0 ? 0 : up_to(5));
      const auto told = grid.add(instance).time_since_epoch() + grid.correction();
      far = std::abs(told.count() - due);
    }
    ASSERT_LE(far, 5);
  }
}

}  // namespace
}  // namespace takt::flow
