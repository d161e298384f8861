#include "takt/execution/interpreter.hpp"

#include <gmock/gmock.h>

#include "interpreted.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/provenance.hpp"
#include "takt/execution/timer_grid.hpp"

/// Numbered facts are those of message-flow.md, section 6.
namespace takt::execution {
namespace {

using test::EventType;
using test::Program;
using test::Scenario;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

TEST_F(InterpreterTest, SamePointerInTwoProcessesOrHostsIsTwoObjects) {  // fact 9
  Program a = scenario.program(7, "left");
  Program b = scenario.program(8, "left");
  Program c = scenario.program(7, "right");
  for (Program* program : {&a, &b, &c}) {
    const auto node = scenario.node(*program, "n");
    scenario.publisher(*program, node, "/t");
  }
  const Objects& objects = run();
  EXPECT_THAT(objects.nodes, SizeIs(3));
  EXPECT_THAT(objects.publishers, SizeIs(3));
  EXPECT_EQ(objects.publishers[2].node, NodeIndex(2));
}

TEST_F(InterpreterTest, Fact10PublisherIsPutTogetherInAnyOrderOfItsEvents) {
  Program program = scenario.program(1);
  scenario.add(program, EventType::rcl_publisher_init, {0x10, 0x20, 0x30, 7}, {"/t"});
  scenario.add(program, EventType::rmw_publisher_init, {0x30, 0xaa, 0xbb});
  scenario.add(program, EventType::rcl_node_init, {0x20, 0}, {"late", "/ns"});
  const Objects& objects = run();
  ASSERT_THAT(objects.publishers, SizeIs(1));
  const execution::Publisher& publisher = objects.publishers[0];
  EXPECT_EQ(publisher.gid, (Gid{0xaa, 0xbb}));
  EXPECT_EQ(publisher.queue_depth, 7);
  ASSERT_TRUE(publisher.node);
  EXPECT_EQ(objects[*publisher.node].full_name(), "/ns/late");
}

TEST_F(InterpreterTest, Fact11SubscriptionHasTopicAndCallback) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto subscription = scenario.subscription(program, node, "/t", "N::f(int)");
  scenario.handle(program, subscription, 5, 100);
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(1));
  const Callback& callback = objects[seen.instances[0].callback];
  EXPECT_EQ(callback.kind, CallbackKind::subscription);
  EXPECT_EQ(objects[*objects.topic_of(callback)], "/t");
  EXPECT_EQ(objects.node_name(callback), "/n");
  EXPECT_EQ(callback.symbol, "N::f(int)");
  EXPECT_EQ(seen.instances[0].end - seen.instances[0].start, std::chrono::microseconds(100));
}

TEST_F(InterpreterTest, ReusedAddressesMakeNewObjects) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  auto& next = program.next_handle;
  const auto before = next;
  const auto first = scenario.subscription(program, node, "/old", "old");
  scenario.handle(program, first, 1, 1);
  next = before;  // the allocator gives the same addresses again
  const auto second = scenario.subscription(program, node, "/new", "new");
  ASSERT_EQ(first.callback, second.callback);
  scenario.handle(program, second, 2, 1);
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  const auto topic_of = [&](std::size_t i) {
    return objects[*objects.topic_of(objects[seen.instances[i].callback])];
  };
  EXPECT_EQ(topic_of(0), "/old");
  EXPECT_EQ(topic_of(1), "/new");
  EXPECT_EQ(objects[seen.instances[1].callback].symbol, "new");
}

TEST_F(InterpreterTest, StartWithoutEndIsOpenNotOfLengthZero) {  // fact 13
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(5));
  scenario.now = 42;
  scenario.start(program, timer);
  run();
  EXPECT_THAT(seen.instances, SizeIs(0));
  ASSERT_THAT(database.open_instances(), SizeIs(1));
  EXPECT_EQ(database.open_instances()[0].start, Instant(std::chrono::microseconds(42)));
  EXPECT_EQ(database.anomalies().open_instances, 1u);
}

TEST_F(InterpreterTest, NestedAndCutOffCallbacksArePairedAsAStack) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto outer = scenario.timer(program, node, std::chrono::milliseconds(5));
  const auto inner = scenario.timer(program, node, std::chrono::milliseconds(7));
  scenario.end(program, inner);  // its start was before the trace
  scenario.start(program, outer);
  scenario.run(program, inner, 10);
  scenario.start(program, inner);  // never ends
  scenario.now += 5;
  scenario.end(program, outer);
  run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.instances[0].end - seen.instances[0].start, std::chrono::microseconds(10));
  EXPECT_EQ(seen.instances[1].end - seen.instances[1].start, std::chrono::microseconds(15));
  EXPECT_EQ(database.anomalies().orphan_ends, 1u);
  EXPECT_EQ(database.anomalies().orphan_starts, 1u);
  EXPECT_EQ(database.anomalies().open_instances, 0u);
}

TEST_F(InterpreterTest, ACallbackThatStartsAgainHasLostItsEnd) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto cut = scenario.timer(program, node, std::chrono::milliseconds(5));
  const auto other = scenario.timer(program, node, std::chrono::milliseconds(7));
  scenario.start(program, cut);  // its end is lost
  scenario.now += 5;
  scenario.run(program, other, 10, std::pair(publisher, 1));
  scenario.run(program, cut, 20, std::pair(publisher, 2));
  scenario.publish(program, publisher, 3);  // outside of all callbacks
  run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.instances[1].end - seen.instances[1].start, std::chrono::microseconds(20));
  ASSERT_THAT(seen.publications, SizeIs(3));
  EXPECT_EQ(seen.publications[0].instance, seen.instances[0].id);
  EXPECT_EQ(seen.publications[1].instance, seen.instances[1].id);
  EXPECT_EQ(seen.publications[2].instance, InstanceId::none);
  EXPECT_EQ(database.anomalies().orphan_starts, 1u);
  EXPECT_EQ(database.anomalies().open_instances, 0u);
}

/// The response of a service, a waitable: no event names what ran.
TEST_F(InterpreterTest, WorkThatNoEventNamesIsMeasured) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(5));
  const auto ready = [&] { scenario.add(program, EventType::rclcpp_executor_get_next_ready, {}); };
  const auto wait = [&] { scenario.add(program, EventType::rclcpp_executor_wait_for_work, {0}); };
  wait();
  scenario.now += 4'000;  // waits
  ready();
  scenario.now += 300;  // of its own, or taking a large message
  scenario.run(program, timer, 1'000);
  scenario.now += 200;  // of the executor, after a callback
  ready();
  scenario.now += 700;
  ready();
  scenario.now += 30;
  wait();
  scenario.now += 2'000;
  ready();
  scenario.now += 500;
  ready();
  run();
  ASSERT_THAT(database.executor_activity(), SizeIs(1));
  const ExecutorActivity activity = database.executor_activity()[0];
  EXPECT_EQ(activity.events, 7u);
  EXPECT_EQ(activity.unnamed_runs, 2u);
  EXPECT_EQ(activity.unnamed_time, std::chrono::microseconds(1'200));
  EXPECT_EQ(activity.longest_unnamed, std::chrono::microseconds(700));
}

TEST_F(InterpreterTest, CallbacksOfAThreadThatOverlapBelongToSeveralProcesses) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto a = scenario.timer(program, node, std::chrono::milliseconds(1));
  const auto b = scenario.timer(program, node, std::chrono::milliseconds(2));
  scenario.start(program, a);  // one within the other: a spins
  scenario.start(program, b);
  scenario.end(program, b);
  scenario.end(program, a);
  scenario.start(program, a);  // its end was lost
  scenario.start(program, b);
  scenario.end(program, b);
  scenario.start(program, a);
  scenario.end(program, a);
  run();
  EXPECT_EQ(database.anomalies().overlapping_callbacks, 0u);
  EXPECT_THAT(database.mixed_threads(), SizeIs(0));
}

TEST_F(InterpreterTest, OverlapsNameTheProcess) {
  Program program = scenario.program(17, "robot", "camera");
  const auto node = scenario.node(program, "n");
  const auto a = scenario.timer(program, node, std::chrono::milliseconds(1));
  const auto b = scenario.timer(program, node, std::chrono::milliseconds(2));
  scenario.start(program, a);
  scenario.start(program, b);
  scenario.end(program, a);
  scenario.end(program, b);
  scenario.start(program, a);  // the same address in both
  scenario.start(program, a);
  scenario.end(program, a);
  scenario.end(program, a);
  run();
  EXPECT_EQ(database.anomalies().overlapping_callbacks, 2u);
  EXPECT_THAT(database.mixed_threads(), ElementsAre(program.thread));
  EXPECT_THAT(
      execution::warnings(scenario, database),
      testing::Contains(testing::AllOf(testing::StartsWith("process 17 (camera): callbacks"),
                                       testing::HasSubstr("pid_ns"))));
}

TEST_F(InterpreterTest, ProcessesThatWereNotRecordedAreSaid) {
  Program program = scenario.program(17, "robot", "controller");
  scenario.add(program, tracepoints::UnrecordedProcess{.why = "no library; do this"});
  run();
  EXPECT_THAT(execution::warnings(scenario, database),
              ElementsAre("1 process with ROS 2 (17, controller) was not recorded: no library; do "
                          "this"));
}

TEST_F(InterpreterTest, ForgottenTriggersOfAWaitableAreCounted) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const std::uint64_t waitable = program.handle();
  scenario.add(program, tracepoints::CallbackInit{
                            .callback = waitable, .node_handle = node, .kind = "waitable"});
  for (int i = 0; i < 4100; ++i) {
    scenario.add(program, tracepoints::WaitableTriggered{.callback = waitable});
  }
  run();
  EXPECT_EQ(database.anomalies().triggers_forgotten, 4u);
}

TEST_F(InterpreterTest, ReleasesSayNoNegativeNumberOfInstances) {
  struct Releases : Observer {
    void on_release(const Database& /*database*/, const Release& release) override {
      completed.push_back(release.completed);
    }
    std::vector<std::int64_t> completed;
  } releases;
  interpreter.add(releases);
  Program program = scenario.program(1);
  scenario.add(program, tracepoints::CallbackRelease{.callback = 1, .completed = INT64_MIN});
  scenario.add(program, tracepoints::CallbackRelease{.callback = 1, .completed = 3});
  run();
  EXPECT_THAT(releases.completed, ElementsAre(0, 3));
}

/// A timer of 30 ms at an address.
void make_timer(Scenario& scenario, const Program& program, std::uint64_t node,
                std::uint64_t handle, const std::string& symbol,
                std::chrono::nanoseconds period = std::chrono::milliseconds(30)) {
  scenario.add(program,
               tracepoints::RclTimerInit{.timer_handle = handle, .period = period.count()});
  scenario.add(program, tracepoints::RclcppTimerCallbackAdded{.timer_handle = handle,
                                                              .callback = handle + 1});
  scenario.add(program,
               tracepoints::RclcppCallbackRegister{.callback = handle + 1, .symbol = symbol});
  scenario.add(program,
               tracepoints::RclcppTimerLinkNode{.timer_handle = handle, .node_handle = node});
}

TEST(Expiries, ExecutorsThatKeepExpiriesSayWhenEachWas) {
  const auto expiries = [](const std::string& kind) {
    Scenario scenario;
    Program program = scenario.program(1);
    make_timer(scenario, program, scenario.node(program, "n"), 0x500, "tick");
    scenario.add(program, tracepoints::ExecutorInit{.executor = "e", .kind = kind});
    for (const std::int64_t when : {100, 200}) {
      scenario.add(program, tracepoints::CallbackRelease{
                                .callback = 0x501, .activation = when, .origin = when});
    }
    for (int i = 0; i < 3; ++i) {
      scenario.add(program, tracepoints::CallbackStart{.callback = 0x501});
      scenario.add(program, tracepoints::CallbackEnd{.callback = 0x501});
    }
    Interpreter interpreter(scenario.threads());
    Witness seen;
    interpreter.add(seen);
    execution::run(scenario, interpreter, {});
    std::vector<std::optional<Instant>> found;
    TimerGrid grid(std::chrono::milliseconds(30));
    for (const CallbackInstance& instance : seen.instances) {
      found.push_back(instance.expired);
      if (instance.expired) {
        EXPECT_EQ(grid.add(instance), *instance.expired);
      }
    }
    return found;
  };
  EXPECT_THAT(expiries("fixed_priority"),
              ElementsAre(Instant(Duration(100)), Instant(Duration(200)), std::nullopt));
  EXPECT_THAT(expiries("single_threaded"), Each(std::nullopt));
}

TEST_F(InterpreterTest, TimersThatAreMadeAnewAreOneCallback) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto other_node = scenario.node(program, "m");
  const std::uint64_t handle = 0x500;
  const auto once = [&](std::uint64_t of, const std::string& symbol,
                        std::chrono::nanoseconds period = std::chrono::milliseconds(30)) {
    make_timer(scenario, program, of, handle, symbol, period);
    scenario.run(program, handle + 1, 10);
  };
  for (int i = 0; i < 3; ++i) once(node, "retry");
  once(node, "give_up");
  once(node, "give_up", std::chrono::milliseconds(40));
  once(other_node, "give_up", std::chrono::milliseconds(40));
  make_timer(scenario, program, node, handle + 0x10, "retry");  // at another address
  scenario.run(program, handle + 0x11, 10);
  run();
  std::vector<std::size_t> callbacks;
  for (const CallbackInstance& instance : seen.instances) {
    callbacks.push_back(instance.callback.value());
  }
  EXPECT_THAT(callbacks, ElementsAre(0, 0, 0, 3, 4, 5, 6));
}

TEST_F(InterpreterTest, CallbacksThatNeverEndAreForgotten) {
  Program program = scenario.program(1);
  constexpr std::uint64_t count = 20'000;
  for (std::uint64_t i = 0; i < count; ++i) scenario.start(program, 0x1000 + i);
  for (std::uint64_t i = count; i-- > 0;) scenario.end(program, 0x1000 + i);
  run();
  EXPECT_EQ(seen.instances.size(), 256u);
  EXPECT_EQ(database.anomalies().orphan_starts, count - 256);
  EXPECT_EQ(database.anomalies().orphan_ends, count - 256);
}

TEST_F(InterpreterTest, AnObjectGetsItsNodeAsSoonAsThatIsDescribed) {
  Program program = scenario.program(1);
  scenario.add(program, EventType::rcl_publisher_init, {0x10, 0x20, 0x30, 7}, {"/t"});
  scenario.add(program, EventType::rcl_node_init, {0x20, 0}, {"late", "/ns"});
  events::Batch batch;
  scenario.drain(batch);
  interpreter.consume(batch);  // as live, where no end comes
  const Objects& objects = database.objects();
  EXPECT_EQ(objects.publishers.at(0).node, NodeIndex(0));
}

TEST_F(InterpreterTest, AnnouncedProcessorsAreThoseThatMayBe) {
  Program program = scenario.program(1);
  for (const std::int64_t cpu : {std::int64_t{-7}, std::int64_t{3}, std::int64_t{1} << 40}) {
    scenario.add(program, tracepoints::ExecutorInit{.executor = "e", .cpu = cpu});
  }
  EXPECT_THAT(run().executor_threads,
              ElementsAre(Field(&ExecutorThread::cpu, -1), Field(&ExecutorThread::cpu, 3),
                          Field(&ExecutorThread::cpu, events::largest_processor)));
}

TEST_F(InterpreterTest, Fact6WithoutInitialisationNothingIsNamed) {
  Program program = scenario.program(1);
  scenario.add(program, EventType::rcl_publish, {0x1, 0x2});
  scenario.add(program, EventType::rmw_publish, {0x3, 0x2, 5});
  scenario.add(program, EventType::rmw_take, {0x4, 0x2, 5, 1});
  scenario.run(program, 0xcafe, 10);
  scenario.run(program, 0xcafe, 10);
  const Objects& objects = run();
  EXPECT_THAT(objects.nodes, SizeIs(0));
  EXPECT_THAT(objects.topics, SizeIs(0));
  ASSERT_THAT(objects.callbacks, SizeIs(1));
  EXPECT_EQ(display_name(objects, objects.callbacks[0]), "unknown(0xcafe)");
  EXPECT_EQ(database.anomalies().unknown_callback_instances, 2u);
  EXPECT_EQ(database.anomalies().unknown_publications, 1u);
  EXPECT_EQ(database.anomalies().unknown_takes, 1u);
  EXPECT_TRUE(database.anomalies().missing_initialisation());
}

TEST_F(InterpreterTest, ALateRecordingSaysWhatItCouldNotKnow) {
  Program program = scenario.program(7);
  scenario.add(program, EventType::objects_recovered, {12}, {"2 timers: their nodes"});
  scenario.add(scenario.program(8), EventType::objects_recovered, {3}, {""});
  const Objects& objects = run();
  ASSERT_THAT(objects.recoveries, SizeIs(2));
  EXPECT_EQ(objects.recoveries[0].objects, 12u);
  const auto lines = warnings(scenario, database);
  ASSERT_THAT(lines, SizeIs(1));  // nothing is unknown of the other process
  EXPECT_THAT(lines[0], testing::AllOf(testing::HasSubstr("process 7"),
                                       testing::HasSubstr("2 timers: their nodes")));
}

TEST_F(InterpreterTest, StartUpEndsWhenNoObjectIsMadeForASecond) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  scenario.now = 900'000;
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(5));
  scenario.now = 1'800'000;
  scenario.run(program, timer, 10);
  scenario.now = 2'000'000;
  scenario.run(program, timer, 10);
  scenario.now = 2'500'000;
  scenario.timer(program, node, std::chrono::milliseconds(9));  // later ones do not matter
  run();
  EXPECT_EQ(seen.steady_since, Instant(std::chrono::microseconds(1'900'000)));
}

class Making : public InterpreterTest, public testing::WithParamInterface<std::string> {};

/// A callback makes an object every 400 ms. What is made first belongs to start-up; nothing more
/// does, but for nodes and what a component container makes with them.
TEST_P(Making, AgainAndAgainKeepsNoStartUpFromEnding) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(400));
  for (std::int64_t i = 1; i <= 8; ++i) {
    scenario.now = 400'000 * i;
    scenario.start(program, timer);
    if (GetParam() == "timer") scenario.timer(program, node, std::chrono::milliseconds(50));
    if (GetParam() == "publisher") scenario.publisher(program, node, "/t" + std::to_string(i));
    if (GetParam() == "node") {
      const auto made = scenario.node(program, "component" + std::to_string(i));
      scenario.timer(program, made, std::chrono::milliseconds(60));
    }
    scenario.end(program, timer);
  }
  scenario.now = 4'500'000;
  scenario.run(program, timer, 10);
  run();
  const auto end = std::chrono::microseconds(GetParam() == "node" ? 4'200'000 : 1'400'000);
  EXPECT_EQ(seen.steady_since, Instant(end));
}

INSTANTIATE_TEST_SUITE_P(Objects, Making, testing::Values("timer", "publisher", "node"),
                         [](const auto& test) { return test.param; });

TEST_F(InterpreterTest, LifecycleTransitionsAreFollowed) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  scenario.add(program, EventType::rcl_lifecycle_state_machine_init, {node, 0x99});
  scenario.add(program, EventType::rcl_lifecycle_transition, {0x99}, {"inactive", "active"});
  const Objects& objects = run();
  ASSERT_THAT(objects.lifecycle_machines, SizeIs(1));
  EXPECT_EQ(objects.lifecycle_machines[0].state, "active");
}

}  // namespace
}  // namespace takt::execution
