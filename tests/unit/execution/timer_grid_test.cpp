#include "takt/execution/timer_grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace takt::execution {
namespace {

using testing::ElementsAre;

CallbackInstance started_at(std::int64_t start) {
  CallbackInstance instance;
  instance.start = Instant(Duration(start));
  instance.chosen = instance.start;
  return instance;
}

/// The due times as they are known in the end, in nanoseconds.
std::vector<std::int64_t> due_times(TimerGrid& grid,
                                    const std::vector<CallbackInstance>& instances) {
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
  CallbackInstance instance = started_at(1252);
  instance.wait_begin = Instant(Duration(1010));
  instance.wait_end = Instant(Duration(1250));
  EXPECT_THAT(due_times(grid, {started_at(1000), instance, started_at(1350)}),
              ElementsAre(1000, 1250, 1350));
}

TEST(TimerGrid, TheLeastLateGridIsTakenFromTheFirstPairOn) {
  TimerGrid grid(Duration(100));
  // That no point is between 0 and 15 of each period leaves two grids: of points at 90, and of
  // points at 0, of which the first instance would be late by 90.
  EXPECT_THAT(due_times(grid, {started_at(90), started_at(215), started_at(300), started_at(400),
                               started_at(500)}),
              ElementsAre(90, 190, 290, 390, 490));
}

TEST(TimerGrid, InstancesInTimeAreNotLateBecauseOthersAre) {
  // Late by 13 and 3 after one in time: simulated, without any waits of the executor.
  TimerGrid grid(Duration(1000));
  EXPECT_THAT(
      due_times(grid, {started_at(987), started_at(2000), started_at(2990), started_at(3987)}),
      ElementsAre(987, 1987, 2987, 3987));
  // Many in time, then two that wait for the same long callback.
  TimerGrid other(Duration(1000));
  std::vector<CallbackInstance> instances;
  for (std::int64_t start = 1000; start < 18'000; start += 1000) {
    instances.push_back(started_at(start));
  }
  instances.push_back(started_at(18'950));
  instances.push_back(started_at(19'998));
  instances.push_back(started_at(20'014));
  EXPECT_EQ(due_times(other, instances).front(), 1000);
}

TEST(TimerGrid, AFirstInstanceThatEndedASleepWasDueThen) {
  TimerGrid grid(Duration(25'000'000));
  // Recorded from rclcpp: the timer is due at multiples of the period. The third begins less than a
  // period after the call of the second, though later after its point than the first after its own.
  std::vector<CallbackInstance> instances;
  for (const auto& [start, chosen, woke] : {std::tuple(25'122'844, 25'118'758, 25'100'000),
                                            std::tuple(50'150'123, 50'148'431, 50'136'293),
                                            std::tuple(75'129'151, 75'127'118, 75'114'639),
                                            std::tuple(100'190'706, 100'188'312, 100'173'350)}) {
    CallbackInstance& instance = instances.emplace_back(started_at(start));
    instance.chosen = Instant(Duration(chosen));
    instance.first_after_wait = true;
    instance.wait_begin = instance.slept_from = Instant(Duration(woke - 12'000'000));
    instance.wait_end = instance.slept_until = Instant(Duration(woke));
  }
  const std::vector<std::int64_t> due = due_times(grid, instances);
  for (std::size_t i = 0; i < due.size(); ++i) {
    const auto point = static_cast<std::int64_t>(i + 1) * 25'000'000;
    EXPECT_GE(due[i], point) << i;
    EXPECT_LE(due[i], point + 122'844) << i;
  }
}

TEST(TimerGrid, ATimerThatEndedASleepWasNotDueBefore) {
  TimerGrid grid(Duration(1000));
  std::vector<CallbackInstance> instances;
  // The executor is busy when the fourth is due; the fifth is called less than a period later.
  for (const std::int64_t start : {5030, 6031, 7031, 8061, 9040}) {
    CallbackInstance instance = started_at(start);
    if (start != 8061) {
      instance.wait_begin = instance.slept_from = Instant(Duration(start - 300));
      instance.wait_end = instance.slept_until = Instant(Duration(start - 2));
      instance.first_after_wait = true;
    }
    instances.push_back(instance);
  }
  // Were the points at 40, the first would have been late by 990, though its executor slept.
  EXPECT_THAT(due_times(grid, instances), ElementsAre(5030, 6030, 7030, 8030, 9030));
}

TEST(TimerGrid, ACallbackThatBeginsLongAfterItsTimerWasCalledDoesNoLastingHarm) {
  TimerGrid grid(Duration(100));
  std::vector<CallbackInstance> instances = {started_at(1000), started_at(1101), started_at(1200)};
  // Called at 1301, preempted until 1430; the timer is due again at 1400.
  instances.push_back(started_at(1430));
  instances.back().chosen = Instant(Duration(1300));
  for (const std::int64_t start : {1470, 1500, 1601, 1700}) instances.push_back(started_at(start));
  EXPECT_THAT(due_times(grid, instances),
              ElementsAre(1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700));
}

TEST(TimerGrid, APointIsAnsweredOnceThoughTheExecutorChoseBeforeIt) {
  TimerGrid grid(Duration(100));
  std::vector<CallbackInstance> instances;
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
  std::pair<std::int64_t, CallbackInstance> call(std::int64_t late) {
    const std::int64_t due = next_;
    CallbackInstance instance = started_at(due + late);
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
    std::vector<CallbackInstance> instances;
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
std::pair<std::int64_t, std::int64_t> lateness(TimerGrid& grid,
                                               const std::vector<CallbackInstance>& instances) {
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
    std::vector<CallbackInstance> instances;
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
    std::vector<CallbackInstance> instances;
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

constexpr std::int64_t ms = 1'000'000;

/// An instance that ended a sleep of its executor.
CallbackInstance woken_at(std::int64_t start, std::int64_t slept_from) {
  CallbackInstance instance = started_at(start);
  instance.first_after_wait = true;
  instance.wait_begin = instance.slept_from = Instant(Duration(slept_from));
  instance.wait_end = instance.slept_until = instance.start;
  return instance;
}

CallbackInstance of(TimerIndex timer, CallbackInstance instance) {
  instance.timer = timer;
  return instance;
}

/// How late instances are, in nanoseconds, as later ones show.
std::vector<std::int64_t> late_by(TimerGrid& grid, std::vector<CallbackInstance> instances) {
  std::vector<std::int64_t> late;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    instances[i].id = InstanceId(i + 1);
    late.push_back((instances[i].start - grid.add(instances[i])).count());
    for (const auto& [id, due] : grid.amended()) {
      const std::size_t amended = static_cast<std::size_t>(id) - 1;
      late[amended] = (instances[amended].start - due).count();
    }
  }
  for (std::int64_t& time : late) time -= grid.correction().count();
  return late;
}

/// Executors of slow programs wake up at the point and run the timer a while later, seldom sooner.
/// An instance that follows a new estimate of the point was no whole period late.
TEST(TimerGrid, ManyLateInstancesMakeNoneLateByAPeriod) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto from = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    TimerGrid grid(Duration(100 * ms));
    std::vector<CallbackInstance> instances;
    for (std::int64_t due = 100 * ms; due < 6000 * ms; due += 100 * ms) {
      const std::int64_t woken = due + from(1, 100'000);
      const std::int64_t start = woken + (from(0, 9) == 0 ? from(10'000, 50'000) : 400'000);
      instances.push_back(woken_at(woken, due - from(1, 90) * ms));
      instances.back().start = Instant(Duration(start));
      instances.back().first_after_wait = from(0, 1) == 0;
    }
    EXPECT_THAT(late_by(grid, instances),
                testing::Each(testing::AllOf(testing::Ge(0), testing::Le(1 * ms))))
        << "seed " << seed;
  }
}

TEST(TimerGrid, ATimerThatCameBackHasAGridOfItsOwn) {
  TimerGrid grid(Duration(100 * ms));
  for (const std::int64_t start : {0 * ms, 100 * ms, 200 * ms}) {
    const auto due = grid.add(of(TimerIndex(0), woken_at(start, start - 50 * ms)));
    EXPECT_EQ(due, Instant(Duration(start)));
  }
  // Made anew 4.73 s later, off the points of the former one.
  for (const std::int64_t start : {4930 * ms, 5030 * ms, 5130 * ms}) {
    const auto due = grid.add(of(TimerIndex(1), woken_at(start, start - 50 * ms)));
    EXPECT_EQ(due, Instant(Duration(start)));
  }
  EXPECT_TRUE(grid.keeps_period());
}

TEST(TimerGrid, APeriodThatIsChangedIsSeen) {
  TimerGrid grid(Duration(100 * ms));
  std::vector<CallbackInstance> instances;
  std::int64_t now = 0;
  const auto call_every = [&](std::int64_t period, int count) {
    for (int i = 0; i < count; ++i, now += period) instances.push_back(woken_at(now, now - 5 * ms));
  };
  call_every(100 * ms, 10);
  call_every(20 * ms, 50);
  // Busy for 30 ms: the timer was due after 20.
  instances.push_back(started_at(now + 10 * ms));
  instances.back().slept_from = Instant(Duration(now - 25 * ms));
  instances.back().slept_until = Instant(Duration(now - 20 * ms));
  const auto late = late_by(grid, instances);
  EXPECT_FALSE(grid.keeps_period());
  EXPECT_EQ(late.back(), 10 * ms);
  EXPECT_THAT(std::vector(late.begin(), late.end() - 1), testing::Each(0));
}

TEST(TimerGrid, ASlowerClockIsSeen) {
  TimerGrid grid(Duration(100 * ms));
  std::vector<CallbackInstance> instances;
  for (std::int64_t now = 0; now < 4000 * ms; now += 200 * ms) {
    instances.push_back(woken_at(now, now - 150 * ms));
  }
  EXPECT_THAT(late_by(grid, instances), testing::Each(0));
  EXPECT_FALSE(grid.keeps_period());
}

TEST(TimerGrid, AResetWithinAPeriodIsKnownByTheNextCall) {
  TimerGrid grid(Duration(100 * ms));
  std::vector<CallbackInstance> instances;
  for (std::int64_t i = 0; i < 20; ++i) {
    const std::int64_t now = i * 100 * ms + (i < 10 ? 0 : 40 * ms);
    instances.push_back(woken_at(now, now - 90 * ms));
  }
  EXPECT_THAT(late_by(grid, instances), testing::Each(0));
  EXPECT_TRUE(grid.keeps_period());
}

TEST(TimerGrid, ALateWakeUpIsLate) {
  TimerGrid grid(Duration(100 * ms));
  std::vector<CallbackInstance> instances;
  for (std::int64_t i = 0; i < 20; ++i) {
    const std::int64_t now = i * 100 * ms + (i == 10 ? 40 * ms : 0);
    instances.push_back(woken_at(now, now - 50 * ms));
  }
  const auto late = late_by(grid, instances);
  EXPECT_EQ(late[10], 40 * ms);
  EXPECT_EQ(std::ranges::count(late, 0), 19);
}

TEST(TimerGrid, ATimerThatWasNotDueWhenItsExecutorWentToSleepWasReset) {
  TimerGrid grid(Duration(100 * ms));
  std::vector<CallbackInstance> instances;
  for (std::int64_t i = 0; i < 20; ++i) {
    const std::int64_t now = i * 100 * ms + (i < 10 ? 0 : 730 * ms);
    // Another timer ends the executor's sleep every 10 ms.
    instances.push_back(woken_at(now, now - 9 * ms));
    instances.back().earlier_wait = Instant(Duration(now - 29 * ms));
  }
  EXPECT_THAT(late_by(grid, instances), testing::Each(0));
  EXPECT_TRUE(grid.keeps_period());
}

/// A timer of rcl whose thread gets its processor only at these times after its sleeps began.
std::vector<CallbackInstance> starved(std::int64_t due, std::int64_t period,
                                      const std::vector<std::int64_t>& woken) {
  std::vector<CallbackInstance> instances;
  std::int64_t before = due - period;
  for (const std::int64_t now : woken) {
    instances.push_back(woken_at(now, before + 100'000));
    before = now;
  }
  return instances;
}

TEST(TimerGrid, AStarvedTimerKeepsItsPeriod) {
  // Recorded from rclcpp: a timer of 30 ms of which the processor was taken for a second.
  const std::vector<std::int64_t> woken{0,   30,  60,  90,   525,  631,  697,
                                        785, 939, 994, 1051, 1080, 1110, 1140};
  // rcl skips the points that pass while the timer is late.
  const std::vector<std::int64_t> late{0, 0, 0, 0, 405, 91, 37, 65, 129, 34, 31, 0, 0, 0};
  std::vector<std::int64_t> at;
  for (const std::int64_t time : woken) at.push_back(time * ms);
  TimerGrid grid(Duration(30 * ms));
  const auto found = late_by(grid, starved(0, 30 * ms, at));
  EXPECT_TRUE(grid.keeps_period());
  for (std::size_t i = 0; i < late.size(); ++i) EXPECT_EQ(found[i], late[i] * ms) << i;
}

TEST(TimerGrid, AnyTimerOfRclKeepsItsPeriodHoweverStarved) {
  int all = 0;
  int right = 0;
  int above = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto from = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    const std::int64_t period = from(10, 200) * ms;
    std::vector<CallbackInstance> instances;
    std::vector<std::int64_t> late;
    std::int64_t due = 0;
    std::int64_t before = -period;
    for (int i = 0; i < 200; ++i) {
      const bool is_starved = i % 50 > 30 && i % 50 < 44;
      const std::int64_t now = due + (is_starved ? from(0, 5 * period) : from(0, 20'000));
      instances.push_back(woken_at(now, before + 100'000));
      late.push_back(now - due);
      before = now;
      due += period;
      if (due < now) due += (now - due + period - 1) / period * period;
    }
    TimerGrid grid((Duration(period)));
    const auto found = late_by(grid, instances);
    EXPECT_TRUE(grid.keeps_period());
    for (std::size_t i = 0; i < late.size(); ++i) {
      ++all;
      right += std::abs(found[i] - late[i]) <= 20'000 ? 1 : 0;
      above += found[i] > late[i] + 20'000 ? 1 : 0;
    }
  }
  // Now and then a late call looks like one in time.
  EXPECT_GE(right, all * 9 / 10);
  EXPECT_LE(above, all / 100);
}

TEST(TimerGrid, ARunBesideOthersThatEndsLateIsNoFasterCall) {
  TimerGrid grid(Duration(20 * ms));
  std::vector<CallbackInstance> instances;
  // Every third run lasts for 45 ms, so two that begin later end before it.
  for (std::int64_t i = 0; i < 60; i += 3) {
    for (const std::int64_t n : {i + 1, i + 2, i}) {
      instances.push_back(started_at(n * 20 * ms));
    }
  }
  for (const CallbackInstance& instance : instances) (void)grid.add(instance);
  EXPECT_TRUE(grid.keeps_period());
}

TEST(TimerGrid, ATimerThatTakesAnothersPlaceHasAGridOfItsOwn) {
  TimerGrid grid(Duration(100 * ms));
  EXPECT_EQ(grid.add(of(TimerIndex(0), started_at(0))), Instant{});
  EXPECT_EQ(grid.add(of(TimerIndex(0), started_at(100 * ms))), Instant(Duration(100 * ms)));
  EXPECT_EQ(grid.add(of(TimerIndex(1), started_at(5030 * ms))), Instant(Duration(5030 * ms)));
  EXPECT_EQ(grid.add(of(TimerIndex(1), started_at(5130 * ms))), Instant(Duration(5130 * ms)));
}

}  // namespace
}  // namespace takt::execution
