#include <gmock/gmock.h>

#include "interpreted.hpp"

namespace takt::execution {
namespace {

using test::Program;
using test::Publisher;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

/// A subscription whose messages a program takes itself.
class Polling : public InterpreterTest {
 protected:
  Program source = scenario.program(1);
  std::uint64_t source_node = scenario.node(source, "source");
  Publisher to_objects = scenario.publisher(source, source_node, "/objects");
  Publisher to_map = scenario.publisher(source, source_node, "/map");
  Program program = scenario.program(2);
  std::uint64_t node = scenario.node(program, "planner");
  test::Subscription objects = scenario.subscription(program, node, "/objects");
  test::Subscription map = scenario.subscription(program, node, "/map");
  Publisher out = scenario.publisher(program, node, "/out");

  Polling() { scenario.leave_out(source); }

  void take(const test::Subscription& subscription, const Publisher& from, std::int64_t stamp) {
    scenario.publish(source, from, stamp);
    scenario.now += 10;
    scenario.take(program, subscription, stamp);
    scenario.now += 10;
  }
  void publish(std::int64_t stamp) { scenario.publish(program, out, stamp); }
  [[nodiscard]] std::vector<PublicationId> read() const {
    std::vector<PublicationId> sources;
    for (const Read& each : seen.reads) sources.push_back(each.source);
    return sources;
  }
};

TEST_F(Polling, WhatATimerTakesBelongsToItsInstance) {
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(50));
  scenario.start(program, timer);
  take(objects, to_objects, 1);
  take(objects, to_objects, 2);
  publish(3);
  scenario.end(program, timer);
  run();
  ASSERT_THAT(seen.instances, SizeIs(1));
  ASSERT_THAT(read(), ElementsAre(PublicationId(1), PublicationId(2)));
  for (const Read& each : seen.reads) {
    EXPECT_EQ(each.reader, seen.instances[0].id);
    EXPECT_EQ(each.reader_callback, seen.instances[0].callback);
    EXPECT_LT(each.time, seen.publications[2].sent);
  }
  EXPECT_EQ(database.anomalies().takes_without_callback, 0u);
}

TEST_F(Polling, WhatARunDidNotTakeIsLeftUntilTheQueueIsEmpty) {
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(50));
  const auto poll = [&](const std::vector<std::int64_t>& stamps, bool finds_no_more) {
    scenario.now += 50'000;
    scenario.start(program, timer);
    for (const std::int64_t stamp : stamps) {
      scenario.now += 10;
      scenario.take(program, objects, stamp);
    }
    if (finds_no_more) scenario.take(program, objects, 0, false);
    scenario.end(program, timer);
  };
  for (const std::int64_t stamp : {1, 2, 3, 4, 5}) scenario.publish(source, to_objects, stamp);
  poll({1}, false);
  poll({2, 3}, false);
  poll({4}, true);
  poll({5}, false);
  run();
  ASSERT_THAT(read(), SizeIs(5));
  EXPECT_EQ(seen.reads[0].left_at, std::nullopt);
  EXPECT_EQ(seen.reads[1].left_at, seen.reads[0].time);
  EXPECT_EQ(seen.reads[2].left_at, seen.reads[0].time);
  EXPECT_EQ(seen.reads[3].left_at, seen.reads[2].time);
  EXPECT_EQ(seen.reads[4].left_at, std::nullopt);
}

TEST_F(Polling, NothingIsLeftInAQueueOfOne) {
  const auto newest = scenario.subscription(program, node, "/objects", "Node::on_message()", 1);
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(50));
  for (const std::int64_t stamp : {1, 2}) scenario.publish(source, to_objects, stamp);
  for (const std::int64_t stamp : {1, 2}) {
    scenario.start(program, timer);
    scenario.take(program, newest, stamp);
    scenario.end(program, timer);
  }
  run();
  ASSERT_THAT(read(), SizeIs(2));
  EXPECT_EQ(seen.reads[1].left_at, std::nullopt);
}

/// A callback that spins runs others, whose messages are theirs.
TEST_F(Polling, WhatACallbackHandlesWithinAnotherIsNotTheOthers) {
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(50));
  scenario.start(program, timer);
  take(map, to_map, 1);
  take(objects, to_objects, 2);
  scenario.run(program, objects.callback, 10);
  publish(3);
  scenario.end(program, timer);
  run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.instances[0].source, PublicationId(2));
  ASSERT_THAT(read(), ElementsAre(PublicationId(1)));
  EXPECT_EQ(seen.reads[0].reader, seen.instances[1].id);
}

TEST_F(Polling, AThreadThatTakesAndPublishesRunsTheSubscriptionsCallback) {
  take(objects, to_objects, 1);
  publish(2);
  take(objects, to_objects, 3);
  take(objects, to_objects, 4);
  publish(5);
  run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.instances[0].source, PublicationId(1));
  EXPECT_EQ(seen.instances[1].source, PublicationId(4));  // the newest one
  EXPECT_EQ(seen.instances[1].end, seen.publications[4].sent);
  EXPECT_EQ(seen.publications[4].instance, seen.instances[1].id);
  EXPECT_THAT(read(), testing::IsEmpty());
}

TEST_F(Polling, AThreadThatTakesSeveralMessagesUsesTheLastForTheRunAndReadsTheOthers) {
  take(map, to_map, 1);
  take(objects, to_objects, 2);
  publish(3);
  take(objects, to_objects, 4);
  publish(5);  // what was used once is not used again
  run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.instances[0].source, PublicationId(2));
  EXPECT_EQ(seen.instances[1].source, PublicationId(4));
  ASSERT_THAT(read(), ElementsAre(PublicationId(1)));
  EXPECT_EQ(seen.reads[0].reader, seen.instances[0].id);
}

/// It takes them for a callback that publishes. One that empties a queue before it publishes first
/// is known as soon as it does.
TEST_F(Polling, AThreadThatOnlyTakesStoresItsMessages) {
  for (std::int64_t stamp = 1; stamp <= 12; ++stamp) take(objects, to_objects, stamp);
  publish(13);
  take(objects, to_objects, 14);
  publish(15);
  run();
  ASSERT_THAT(read(), ElementsAre(PublicationId(10), PublicationId(11), PublicationId(12)));
  for (const Read& each : seen.reads) {
    EXPECT_EQ(each.reader, InstanceId::none);
    EXPECT_EQ(each.reader_callback, each.callback);
  }
  ASSERT_THAT(seen.instances, Not(testing::IsEmpty()));
  EXPECT_EQ(seen.instances.back().source, PublicationId(14));
}

/// A message that an executor takes and whose callback is not seen belongs to nothing.
TEST_F(Polling, ThreadsThatRunCallbacksReadNothingBetweenThem) {
  take(objects, to_objects, 1);
  scenario.run(program, objects.callback, 10);
  take(map, to_map, 2);
  publish(3);
  take(objects, to_objects, 4);
  run();
  EXPECT_THAT(seen.instances, SizeIs(1));
  EXPECT_THAT(read(), testing::IsEmpty());
  EXPECT_EQ(database.anomalies().takes_without_callback, 2u);
}

/// A program of stock rclpy that ran before the recording: its objects are known, its callbacks
/// have no events, and probes in the kernel see what its executor calls in rcl.
class Signalled : public InterpreterTest {
 protected:
  Program program = scenario.program(1);
  std::uint64_t node = scenario.node(program, "robot");
  Publisher in = scenario.publisher(program, node, "/in");
  Publisher out = scenario.publisher(program, node, "/out");
  test::Subscription heard{program.handle(), program.handle(), 0};
  std::uint64_t timer = program.handle();
  static constexpr std::uint64_t guard_condition = 0x77;

  Signalled() {
    scenario.add(program,
                 tracepoints::RclSubscriptionInit{.subscription_handle = heard.handle,
                                                  .node_handle = node,
                                                  .rmw_subscription_handle = heard.rmw_handle,
                                                  .topic_name = "/in",
                                                  .queue_depth = 5});
    scenario.add(program, tracepoints::RclTimerInit{.timer_handle = timer, .period = 1'000'000});
    scenario.add(program, tracepoints::ClientLibrary{.name = "rclpy"});
    scenario.add(program, tracepoints::ObjectsRecovered{.objects = 5, .unknown = ""});
  }

  void call(tracepoints::RclFunction function, std::uint64_t object) {
    scenario.add(program, tracepoints::RclCall{.object = object,
                                               .function = static_cast<std::uint64_t>(function)});
  }
  void signal(std::uint64_t object = guard_condition) {
    call(tracepoints::RclFunction::trigger_guard_condition, object);
  }
  void call_timer() { call(tracepoints::RclFunction::timer_call, timer); }
  /// A run of 100 µs, 5 µs after the message was taken.
  void handle(std::int64_t stamp, std::int64_t output) {
    scenario.take(program, heard, stamp);
    scenario.now += 5;
    signal();
    scenario.now += 60;
    scenario.publish(program, out, output);
    scenario.now += 40;
    signal();
    scenario.now += 5;
  }
};

TEST_F(Signalled, RunsAreFromTheFirstSignalToTheSecond) {
  call_timer();
  signal();
  scenario.now += 30;
  scenario.publish(program, in, 1);
  scenario.now += 20;
  signal();
  scenario.now += 500;
  handle(1, 2);
  run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(database.objects()[seen.instances[0].callback].kind, CallbackKind::timer);
  EXPECT_EQ(seen.instances[0].execution_time(), std::chrono::microseconds(50));
  EXPECT_EQ(database.objects()[seen.instances[1].callback].kind, CallbackKind::subscription);
  EXPECT_EQ(seen.instances[1].execution_time(), std::chrono::microseconds(100));
  EXPECT_EQ(seen.instances[1].source, seen.publications[0].id);
  EXPECT_EQ(seen.publications[0].instance, seen.instances[0].id);
  EXPECT_EQ(seen.publications[1].instance, seen.instances[1].id);
  EXPECT_EQ(seen.publications[1].cause, seen.publications[0].id);
  EXPECT_EQ(database.anomalies().runs_without_end, 0u);
}

TEST_F(Signalled, ARunWhoseEndIsUnclearCountsNowhere) {
  handle(1, 2);
  signal();  // it, or what came after it, woke the executor
  handle(3, 4);
  scenario.publish(program, in, 5);  // by the callback, or after it
  scenario.take(program, heard, 6);
  signal();  // waits within
  handle(7, 8);
  run();
  ASSERT_THAT(seen.instances, SizeIs(1));
  EXPECT_EQ(seen.publications.back().instance, seen.instances[0].id);
  EXPECT_EQ(seen.publications[2].instance, InstanceId::none);
  EXPECT_EQ(database.anomalies().runs_without_end, 3u);
}

TEST_F(Signalled, OtherGuardConditionsChangeNothing) {
  scenario.take(program, heard, 1);
  signal();
  scenario.now += 10;
  signal(0x99);
  scenario.now += 10;
  signal();
  signal(0x99);
  run();
  ASSERT_THAT(seen.instances, SizeIs(1));
  EXPECT_EQ(seen.instances[0].execution_time(), std::chrono::microseconds(20));
}

TEST_F(Signalled, SignalsMeanNothingWhereEventsNameCallbacks) {
  scenario.run(program, 0x55, 10);
  handle(1, 2);
  run();
  ASSERT_THAT(seen.instances, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(seen.instances, Each(Field(&CallbackInstance::is_signalled, false)));
}

/// Without the probes on rcl nobody knows whether it is a callback that publishes.
TEST_F(Signalled, WhereCallbacksRunUnseenThreadsAreNoSources) {
  for (std::int64_t stamp = 1; stamp < 5; ++stamp) {
    scenario.publish(program, out, stamp);
    scenario.now += 1000;
  }
  run();
  EXPECT_THAT(seen.instances, testing::IsEmpty());
  EXPECT_THAT(seen.publications, Each(Field(&Publication::instance, InstanceId::none)));
}

/// rclcpp's callbacks that were made before the recording: what its executor runs says whose they
/// are.
class Executed : public InterpreterTest {
 protected:
  Program program = scenario.program(1);
  std::uint64_t node = scenario.node(program, "robot");
  test::Subscription heard{program.handle(), program.handle(), 0x100};
  std::uint64_t timer = program.handle();
  test::Service service = scenario.silent_service(program, node, "/steer");
  Program caller = scenario.program(2);
  test::Client client = scenario.client(caller, scenario.node(caller, "caller"), "/steer");

  Executed() {
    scenario.add(program,
                 tracepoints::RclSubscriptionInit{.subscription_handle = heard.handle,
                                                  .node_handle = node,
                                                  .rmw_subscription_handle = heard.rmw_handle,
                                                  .topic_name = "/in",
                                                  .queue_depth = 5});
    scenario.add(program, tracepoints::RclTimerInit{.timer_handle = timer, .period = 1'000'000});
    scenario.add(program, tracepoints::ObjectsRecovered{.objects = 5, .unknown = ""});
  }

  void execute(std::uint64_t handle) {
    scenario.look(program);
    scenario.add(program, tracepoints::RclcppExecutorExecute{.handle = handle});
  }
  [[nodiscard]] std::vector<CallbackKind> kinds() const {
    std::vector<CallbackKind> kinds;
    for (const auto& each : seen.instances) {
      kinds.push_back(database.objects()[each.callback].kind);
      EXPECT_EQ(each.execution_time(), std::chrono::microseconds(10));
    }
    return kinds;
  }
};

TEST_F(Executed, CallbacksAreThoseOfWhatTheExecutorRuns) {
  execute(timer);
  scenario.run(program, 0x200, 10);
  execute(heard.handle);
  scenario.take(program, heard, 1);
  scenario.run(program, 0x100, 10);
  scenario.look(program);
  scenario.take_request(program, service, client, 1);
  scenario.run(program, 0x300, 10);
  run();
  EXPECT_THAT(kinds(),
              ElementsAre(CallbackKind::timer, CallbackKind::subscription, CallbackKind::service));
  EXPECT_EQ(seen.instances[1].taken, seen.instances[1].start);
  EXPECT_EQ(database.anomalies().unknown_callback_instances, 0u);
}

TEST_F(Executed, ACallbackThatRanAsTheRecordingBeganIsKnownFromItsNextRunOn) {
  scenario.add(program, tracepoints::CallbackEnd{.callback = 0x100});
  for (std::int64_t stamp = 1; stamp < 3; ++stamp) {
    execute(heard.handle);
    scenario.take(program, heard, stamp);
    scenario.run(program, 0x100, 10);
  }
  run();
  EXPECT_THAT(kinds(), ElementsAre(CallbackKind::subscription, CallbackKind::subscription));
  EXPECT_EQ(database.anomalies().orphan_ends, 1u);
  EXPECT_EQ(database.anomalies().unknown_callback_instances, 0u);
}

TEST_F(Executed, ARunThatHadBegunBeforeHidesNoCallback) {
  scenario.add(program, tracepoints::CallbackEnd{.callback = 0x100});
  scenario.run(program, 0x200, 10);  // what the executor said of it came before
  for (int repetition = 0; repetition < 2; ++repetition) {
    execute(timer);
    scenario.run(program, 0x200, 10);
    execute(heard.handle);
    scenario.take(program, heard, 1);
    scenario.run(program, 0x100, 10);
  }
  run();
  EXPECT_THAT(kinds(),
              ElementsAre(CallbackKind::unknown, CallbackKind::timer, CallbackKind::subscription,
                          CallbackKind::timer, CallbackKind::subscription));
}

TEST_F(Executed, ACallbackThatNothingShowsIsUnknown) {
  execute(timer);  // was cancelled meanwhile
  scenario.look(program);
  scenario.run(program, 0x200, 10);
  execute(heard.handle);
  scenario.run(program, 0x100, 10);  // without a message
  scenario.wait(program);
  scenario.look(program);
  scenario.take(program, heard, 1);
  scenario.run(program, 0x400, 10);  // of an executor that does not say what it runs
  run();
  EXPECT_THAT(kinds(), Each(CallbackKind::unknown));
  EXPECT_EQ(database.anomalies().unknown_callback_instances, 3u);
}

}  // namespace
}  // namespace takt::execution
