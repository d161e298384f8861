#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <utility>

#include "flow_scenario.hpp"

namespace takt::flow {
namespace {

using testing::ElementsAre;

constexpr std::int64_t ready = 0;
constexpr std::int64_t sleeping = 1;

/// A source and a node that relays /a or uses it in a timer of 100 ms, with the scheduler's events.
class Preemption : public testing::Test {
 protected:
  Scenario scenario;
  Program kernel = scenario.program(0, "h", "");
  Program outside = scenario.program(1, "h", "outside");
  Program program = scenario.program(20, "h", "robot");
  std::uint64_t sources = scenario.node(outside, "sources");
  std::uint64_t node = scenario.node(program, "robot");
  test::Publisher a = scenario.publisher(outside, sources, "/a");
  test::Publisher c = scenario.publisher(program, node, "/c");
  test::Subscription on_a = scenario.subscription(program, node, "/a");
  test::Subscription on_c = scenario.subscription(outside, sources, "/c");
  std::uint64_t timer = scenario.timer(program, node, std::chrono::milliseconds(100));

  void switch_to(std::int32_t from, std::int64_t state, std::int32_t to, const std::string& name,
                 std::int32_t priority = 120, std::int32_t next_priority = 120) {
    scenario.add(kernel, tracepoints::SchedSwitch{.prev_comm = "prev",
                                                  .prev_tid = from,
                                                  .prev_prio = priority,
                                                  .prev_state = state,
                                                  .next_comm = name,
                                                  .next_tid = to,
                                                  .next_prio = next_priority});
  }
  void wake(std::int32_t thread) {
    scenario.add(kernel, tracepoints::SchedWakeup{.comm = "robot", .tid = thread, .prio = 120});
  }
  /// "stage µs (who)" of each part of the worst instance.
  static std::vector<std::string> parts(const json& document) {
    std::vector<std::string> all;
    for (const json& part : document["flows"][0]["worst"][0]["parts"]) {
      all.push_back(part["stage"].get<std::string>() + " " +
                    std::to_string(part["duration"].get<int>() / 1000) +
                    (part["by"].is_null() ? "" : " " + part["by"].get<std::string>()));
    }
    return all;
  }
};

TEST_F(Preemption, WithinACallbackItIsToldFromRunningAndFromSleeping) {
  scenario.now = 1000;
  scenario.publish(outside, a, 1);
  scenario.take(program, on_a, 1);
  scenario.start(program, on_a.callback);
  scenario.now += 100;
  switch_to(20, ready, 77, "backup");
  scenario.now += 500;
  switch_to(77, ready, 20, "robot");
  scenario.now += 50;
  switch_to(20, sleeping, 77, "backup");
  scenario.now += 200;
  wake(20);
  scenario.now += 30;
  switch_to(77, ready, 20, "robot");
  scenario.now += 20;
  scenario.publish(program, c, 2);
  scenario.end(program, on_a.callback);
  scenario.handle(outside, on_c, 2, 1);
  EXPECT_THAT(parts(follow(scenario, between("/a", "/c"))),
              ElementsAre("running 100", "preempted 500 backup", "running 50", "blocked 200",
                          "preempted 30 backup", "running 20"));
}

/// Without the scheduler's events, the clock of the thread tells for how long a run slept and was
/// preempted. It publishes after 880 of its 900 µs: at most 20 of both may have come later.
TEST_F(Preemption, WithoutTheSchedulersEventsTheThreadsClockTellsHowLong) {
  const auto clock = [&](std::int64_t cpu, std::int64_t waits, std::int64_t ready_time) {
    scenario.add(program, tracepoints::ThreadCpuTime{
                              .cpu_time = cpu, .waits = waits, .ready_time = ready_time});
  };
  const auto relay = [&](std::int64_t stamp, std::int64_t until, std::int64_t waits,
                         std::int64_t cpu, std::int64_t ready_time) {
    scenario.publish(outside, a, stamp);
    scenario.take(program, on_a, stamp);
    scenario.start(program, on_a.callback);
    clock(1'000, 5, 7'000);
    scenario.now += until;
    scenario.publish(program, c, stamp + 1);
    scenario.now += 20;
    clock(1'000 + cpu, 5 + waits, 7'000 + ready_time);
    scenario.end(program, on_a.callback);
    scenario.handle(outside, on_c, stamp + 1, 1);
    return parts(follow(scenario, between("/a", "/c")));
  };
  scenario.now = 1000;
  EXPECT_THAT(relay(1, 880, 1, 100'000, 200'000),
              ElementsAre("running 120", "blocked 580", "preempted 180", "in_transport 20"));
  // Who never waits was only preempted, for as long as it was ready.
  EXPECT_THAT(relay(11, 1880, 0, 1'690'000, 200'000),
              ElementsAre("running 1700", "preempted 180", "in_transport 20"));
}

TEST_F(Preemption, AReservationThatIsUsedUpIsNoPreemption) {
  scenario.now = 1000;
  scenario.publish(outside, a, 1);
  scenario.take(program, on_a, 1);
  scenario.start(program, on_a.callback);
  scenario.now += 100;
  switch_to(20, ready, 0, "swapper/0", -1, 120);
  scenario.now += 700;
  switch_to(0, ready, 20, "robot", 120, -1);
  scenario.now += 100;
  switch_to(20, ready, 30, "other", -1, -1);  // an earlier deadline
  scenario.now += 40;
  switch_to(30, sleeping, 20, "robot", -1, -1);
  scenario.publish(program, c, 2);
  scenario.end(program, on_a.callback);
  scenario.handle(outside, on_c, 2, 1);
  EXPECT_THAT(parts(follow(scenario, between("/a", "/c"))),
              ElementsAre("running 100", "waiting_for_reservation 700 swapper/0", "running 100",
                          "preempted 40 other"));
}

TEST_F(Preemption, Fact37ALateTimerIsAttributedToTheWaitForAProcessor) {
  scenario.add(program, EventType::message_link_periodic_async, {}, {},
               {{on_a.handle}, {c.handle}});
  for (const std::int64_t start : {0, 100'000, 207'800, 300'000}) {
    if (start == 207'800) {
      scenario.now = 190'000;
      scenario.publish(outside, a, 1);
      scenario.handle(program, on_a, 1, 1000);
      scenario.now = 191'000;
      switch_to(20, sleeping, 77, "backup");
      scenario.now = 197'900;
      wake(20);
      scenario.now = 207'800;
      switch_to(77, ready, 20, "robot");
    }
    scenario.now = start;
    scenario.run(program, timer, 0,
                 start == 207'800 ? std::optional(std::pair(c, 2)) : std::nullopt);
    if (start == 207'800) {
      scenario.handle(outside, on_c, 2, 1);
    }
  }
  // Due at 200 ms, the thread was ready from 197.9 ms on.
  EXPECT_THAT(parts(follow(scenario, between("/a", "/c"))),
              ElementsAre("running 1000", "waiting_for_timer 9000", "preempted 7800 backup"));
}

TEST_F(Preemption, AMessageWaitsBehindTheRunAroundAnotherThatHasEnded) {
  const auto on_b = scenario.subscription(program, node, "/b");
  const auto on_d = scenario.subscription(program, node, "/d");
  auto b = scenario.publisher(outside, sources, "/b");
  auto d = scenario.publisher(outside, sources, "/d");
  scenario.now = 1000;
  scenario.publish(outside, b, 1);
  scenario.take(program, on_b, 1);
  scenario.start(program, on_b.callback);  // it spins the executor
  scenario.now += 100;
  scenario.publish(outside, d, 7);
  scenario.take(program, on_d, 7);
  scenario.start(program, on_d.callback);
  scenario.now += 100;
  scenario.end(program, on_d.callback);
  scenario.now += 100;
  scenario.publish(outside, a, 2);
  scenario.now += 500;
  scenario.end(program, on_b.callback);
  scenario.now += 10;
  scenario.take(program, on_a, 2);
  scenario.start(program, on_a.callback);
  scenario.now += 10;
  scenario.publish(program, c, 3);
  scenario.end(program, on_a.callback);
  scenario.handle(outside, on_c, 3, 1);
  EXPECT_THAT(parts(follow(scenario, between("/a", "/c"))),
              ElementsAre("waiting_in_executor 500", "waiting_in_executor 10", "running 10"));
}

}  // namespace
}  // namespace takt::flow
