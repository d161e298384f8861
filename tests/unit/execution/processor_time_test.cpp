#include <gmock/gmock.h>

#include <array>
#include <limits>
#include <map>
#include <random>

#include "interpreted.hpp"

/// Numbered facts are those of message-flow.md, section 6.
namespace takt::execution {
namespace {

using test::EventType;
using test::Program;
using testing::ElementsAre;
using testing::SizeIs;

TEST_F(InterpreterTest, ProcessorTimesAndStampsMayBeAnything) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(5));
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const auto cpu = [&](std::int64_t time) {
    scenario.add(program, tracepoints::ThreadCpuTime{.cpu_time = time});
  };
  cpu(least);
  scenario.start(program, timer);
  cpu(least);
  cpu(most);
  scenario.end(program, timer);
  cpu(most);
  scenario.publish(program, publisher, least);
  scenario.take(program, subscription, most);
  run();
  ASSERT_THAT(seen.instances, SizeIs(1));
  EXPECT_EQ(seen.instances[0].cpu_time, 2 * longest_time);
  // The smallest stamp is not next to the largest.
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId::none));
}

/// An instance that waited is suspended for the time that it lasts without a processor, less that
/// for which it was ready if that is known; one that never waited was only preempted.
TEST_F(InterpreterTest, WaitsOfTheThreadTellSuspensionFromPreemption) {
  Program program = scenario.program(1);
  const auto timer =
      scenario.timer(program, scenario.node(program, "n"), std::chrono::milliseconds(5));
  const auto run_with = [&](tracepoints::ThreadCpuTime first, tracepoints::ThreadCpuTime last) {
    scenario.start(program, timer);
    scenario.add(program, first);
    scenario.now += 100;
    scenario.add(program, last);
    scenario.end(program, timer);
  };
  run_with({.cpu_time = 10'000, .waits = 7}, {.cpu_time = 40'000, .waits = 9});
  run_with({.cpu_time = 50'000, .waits = 9}, {.cpu_time = 60'000, .waits = 9});
  run_with({.cpu_time = 60'000, .waits = 9, .ready_time = 5'000},
           {.cpu_time = 70'000, .waits = 10, .ready_time = 25'000});
  run_with({.cpu_time = 70'000, .waits = 0}, {.cpu_time = 80'000, .waits = 0});
  run();
  ASSERT_THAT(seen.instances, SizeIs(4));
  ASSERT_TRUE(seen.instances[0].suspended);
  EXPECT_EQ(seen.instances[0].suspended->times, 2);
  EXPECT_EQ(seen.instances[0].suspended->time, std::chrono::microseconds(70));
  ASSERT_TRUE(seen.instances[1].suspended);
  EXPECT_EQ(seen.instances[1].suspended->times, 0);
  EXPECT_EQ(seen.instances[1].suspended->time, Duration{0});
  ASSERT_TRUE(seen.instances[2].beginning);
  EXPECT_EQ(seen.instances[2].beginning->cpu_time, std::chrono::microseconds(60));
  EXPECT_EQ(seen.instances[2].beginning->waits, 9);
  EXPECT_FALSE(seen.instances[3].beginning);
  ASSERT_TRUE(seen.instances[2].suspended);
  EXPECT_EQ(seen.instances[2].suspended->times, 1);
  EXPECT_EQ(seen.instances[2].suspended->time, std::chrono::microseconds(70));
  EXPECT_FALSE(seen.instances[3].suspended) << "a recording that does not have the waits";
  EXPECT_EQ(interpreter.database().totals().suspension_source(), "mixed");
}

/// The scheduler and the callback of performance-engineering fact 2, in µs: thread 7 begins to run
/// at 90, its callback lasts from 100 to 200.
class Switches : public InterpreterTest {
 protected:
  enum class To { thread, others };
  Program program = scenario.program(7);
  Program kernel = scenario.program(0);
  std::uint64_t node = scenario.node(program, "n");
  std::uint64_t timer = scenario.timer(program, node, std::chrono::milliseconds(5));

  void change(std::int64_t time, To to) {
    scenario.now = time;
    scenario.add(kernel, tracepoints::SchedSwitch{.prev_comm = "prev",
                                                  .prev_tid = to == To::thread ? 1 : 7,
                                                  .prev_prio = 20,
                                                  .prev_state = 0,
                                                  .next_comm = "next",
                                                  .next_tid = to == To::thread ? 7 : 1,
                                                  .next_prio = 20});
  }
  /// The thread gives its processor up, to wait for something.
  void suspend(std::int64_t time) {
    scenario.now = time;
    scenario.add(kernel, tracepoints::SchedSwitch{.prev_comm = "prev",
                                                  .prev_tid = 7,
                                                  .prev_prio = 20,
                                                  .prev_state = 1,
                                                  .next_comm = "next",
                                                  .next_tid = 1,
                                                  .next_prio = 20});
  }
  void wake(std::int64_t time) {
    scenario.now = time;
    scenario.add(kernel, tracepoints::SchedWakeup{.comm = "prev", .tid = 7, .prio = 20});
  }
  void start(std::int64_t time) {
    scenario.now = time;
    scenario.start(program, timer);
  }
  void end(std::int64_t time) {
    scenario.now = time;
    scenario.end(program, timer);
  }
  /// From 100 to 200, of which others have the processor for 40.
  void preempted_twice() {
    change(90, To::thread);
    start(100);
    change(120, To::others);
    change(150, To::thread);
    change(170, To::others);
    change(180, To::thread);
    end(200);
  }
  Duration time_of(std::size_t instance) {
    EXPECT_TRUE(seen.instances.at(instance).by_scheduler);
    return seen.instances.at(instance).execution_time();
  }
};

TEST_F(Switches, P02_ExecutionTimeIsNetOfPreemption) {
  preempted_twice();
  change(210, To::others);
  run();
  EXPECT_EQ(time_of(0), std::chrono::microseconds(60));
  EXPECT_EQ(interpreter.database().totals().source(), "sched_switch");
}

TEST_F(Switches, P02_TheRestCountsWithoutALaterSwitch) {
  preempted_twice();
  run();
  EXPECT_EQ(time_of(0), std::chrono::microseconds(60));
}

TEST_F(Switches, P03_WithoutASwitchItLastsFromStartToEnd) {
  change(90, To::thread);
  start(100);
  end(200);
  start(300);
  end(450);
  run();
  EXPECT_EQ(time_of(0), std::chrono::microseconds(100));
  EXPECT_EQ(time_of(1), std::chrono::microseconds(150));
}

/// Twice for 10 and 30; where no wake-up is known, until it runs again. What the thread waits for
/// the processor afterwards, and what preempts it, is no suspension.
TEST_F(Switches, TellSuspensionFromPreemption) {
  change(90, To::thread);
  start(100);
  suspend(110);
  wake(120);
  change(130, To::thread);
  suspend(140);
  change(170, To::thread);
  change(180, To::others);
  change(190, To::thread);
  end(200);
  start(300);
  end(310);
  run();
  ASSERT_TRUE(seen.instances.at(0).suspended);
  EXPECT_EQ(seen.instances[0].suspended->times, 2);
  EXPECT_EQ(seen.instances[0].suspended->time, std::chrono::microseconds(40));
  EXPECT_TRUE(seen.instances[0].suspended->by_scheduler);
  ASSERT_TRUE(seen.instances.at(1).suspended);
  EXPECT_EQ(seen.instances[1].suspended->times, 0);
  EXPECT_EQ(interpreter.database().totals().suspension_source(), "sched_switch");
}

TEST_F(Switches, AThreadThatTellsItsOwnTimeIsBelieved) {
  change(90, To::thread);
  start(100);
  scenario.add(program, EventType::thread_cpu_time, {5000});
  change(120, To::others);
  change(150, To::thread);
  scenario.now = 200;
  scenario.add(program, EventType::thread_cpu_time, {6000});
  end(200);
  run();
  ASSERT_EQ(seen.instances.size(), 1u);
  EXPECT_EQ(seen.instances[0].cpu_time, Duration(1000));
  EXPECT_FALSE(seen.instances[0].by_scheduler);
}

TEST_F(InterpreterTest, ProcessorTimeAndOverheadComeFromTheThreadsClock) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(5));
  const auto cpu = [&](std::uint64_t time) {
    scenario.add(program, EventType::thread_cpu_time, {time});
  };
  const auto run_for = [&](std::uint64_t from, std::uint64_t to) {
    scenario.start(program, timer);
    cpu(from);
    scenario.now += 500;
    cpu(to);
    scenario.end(program, timer);
  };
  run_for(1000, 4000);
  scenario.now += 300;
  run_for(4700, 5000);
  scenario.start(program, timer);
  cpu(9000);  // the second sample was lost
  scenario.end(program, timer);
  run();
  ASSERT_THAT(seen.instances, SizeIs(3));
  EXPECT_EQ(seen.instances[0].cpu_time, Duration(3000));
  EXPECT_EQ(seen.instances[0].overhead, std::nullopt);
  EXPECT_EQ(seen.instances[1].execution_time(), Duration(300));
  EXPECT_EQ(seen.instances[1].overhead, Duration(700));
  EXPECT_EQ(seen.instances[2].cpu_time, std::nullopt);
  EXPECT_EQ(database.totals().with_cpu_time, 2u);
}

/// A thread that has used up its reservation counts as neither waiting nor ready.
TEST_F(InterpreterTest, AThreadThatNeverWaitedHadNoProcessor) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(50));
  const auto run_for = [&](std::int64_t microseconds, std::uint64_t ran, std::uint64_t waits) {
    scenario.start(program, timer);
    scenario.add(program, EventType::thread_cpu_time, {0, 1, 2000});
    scenario.now += microseconds;
    scenario.add(program, EventType::thread_cpu_time, {ran, waits, 12000});
    scenario.end(program, timer);
  };
  run_for(5000, 2'000'000, 1);
  run_for(5000, 2'000'000, 2);
  run_for(5000, 4'950'000, 1);  // the clocks were not read at once
  run();
  ASSERT_THAT(seen.instances, SizeIs(3));
  const auto told = [&](std::size_t number) { return seen.instances[number].suspended.value(); };
  EXPECT_EQ(told(0).ready, std::chrono::milliseconds(3));
  EXPECT_EQ(told(0).time, Duration(0));
  EXPECT_EQ(told(1).ready, std::chrono::microseconds(10));
  EXPECT_EQ(told(1).time, std::chrono::microseconds(2990));
  EXPECT_EQ(told(2).ready, std::chrono::microseconds(10));
}

TEST_F(InterpreterTest, WaitingAndIdlePollingAreNoOverhead) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(5));
  const auto wait = [&](std::int64_t from, std::int64_t to) {
    scenario.now = from;
    scenario.add(program, EventType::rclcpp_executor_wait_for_work, {0});
    scenario.now = to;
    scenario.add(program, EventType::rclcpp_executor_get_next_ready, {});
  };
  wait(0, 10);
  scenario.run(program, timer, 100);  // ends at 110
  wait(113, 200);
  wait(210, 300);  // woke up for nothing in between
  scenario.now = 304;
  scenario.run(program, timer, 1);
  run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.instances[1].overhead, std::chrono::microseconds(3 + 4));
  EXPECT_TRUE(seen.instances[1].first_after_wait);
  EXPECT_EQ(seen.instances[1].wait_begin, Instant(std::chrono::microseconds(210)));
  EXPECT_EQ(seen.instances[1].wait_end, Instant(std::chrono::microseconds(300)));
}

TEST_F(InterpreterTest, Fact36TimeOfAThreadIsExecutingWaitingOrInternal) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  std::map<ThreadIndex, std::array<Duration, 3>> spent;  // executing, waiting, internal
  std::map<ThreadIndex, Duration> whole;
  for (const Program& thread : {program, scenario.worker(program, 2)}) {
    const auto timer = scenario.timer(program, node, std::chrono::milliseconds(5));
    std::mt19937 random(thread.thread.value());
    std::uniform_int_distribution<std::int64_t> some(1, 1000);
    auto& [executing, waiting, internal] = spent[thread.thread];
    // The first run says nothing of what was before it.
    scenario.run(thread, timer, 1);
    const std::int64_t begin = scenario.now;
    const auto pass = [&](Duration& sum) {
      const std::int64_t time = some(random);
      scenario.now += time;
      sum += std::chrono::microseconds(time);
    };
    for (int i = 0; i < 50; ++i) {
      pass(internal);
      if (i % 3 != 0) {  // else another one was ready already
        scenario.wait(thread);
        pass(waiting);
        scenario.look(thread);
        pass(internal);
      }
      scenario.start(thread, timer);
      pass(executing);
      scenario.end(thread, timer);
    }
    whole[thread.thread] = std::chrono::microseconds(scenario.now - begin);
  }
  run();
  std::map<ThreadIndex, std::array<Duration, 3>> told;
  std::map<ThreadIndex, Instant> until;
  for (const CallbackInstance& instance : seen.instances) {
    auto& [executing, waiting, internal] = told[instance.thread];
    const auto [last, is_first] = until.try_emplace(instance.thread, instance.end);
    if (is_first) continue;
    EXPECT_LE(last->second, instance.start);
    executing += instance.end - instance.start;
    if (instance.first_after_wait) {
      EXPECT_LE(last->second, *instance.wait_begin);
      EXPECT_LE(*instance.wait_end, instance.start);
      waiting += *instance.wait_end - *instance.wait_begin;
    }
    // Until a thread has waited once, nobody knows whether its executor emits waits.
    internal += instance.overhead.value_or(instance.start - last->second);
    last->second = instance.end;
  }
  EXPECT_EQ(told, spent);
  for (const auto& [thread, parts] : told) {
    EXPECT_EQ(parts[0] + parts[1] + parts[2], whole[thread]);
  }
}

}  // namespace
}  // namespace takt::execution
