#include "takt/execution/interpreter.hpp"

#include <gmock/gmock.h>

#include <array>
#include <limits>
#include <map>
#include <random>

#include "scenario.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/pass.hpp"
#include "takt/execution/provenance.hpp"
#include "takt/execution/timer_grid.hpp"

/// Numbered facts are those of message-flow.md, section 6.
namespace takt::execution {
namespace {

using test::EventType;
using test::Program;
using test::Publisher;
using test::Scenario;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

/// Remembers everything.
struct Witness final : Observer {
  std::vector<CallbackInstance> instances;
  std::vector<Publication> publications;
  std::vector<std::pair<InstanceId, PublicationId>> late;
  std::vector<PublicationId> takes;
  std::vector<Read> reads;
  std::optional<Instant> steady_since;

  void on_instance(const Database&, const CallbackInstance& instance) override {
    instances.push_back(instance);
  }
  void on_publication(const Database&, const Publication& publication) override {
    publications.push_back(publication);
  }
  void on_take(const Database&, const Take& take) override { takes.push_back(take.source); }
  void on_read(const Database&, const Read& read) override { reads.push_back(read); }
  void on_late_source(const Database&, InstanceId instance, PublicationId source) override {
    late.emplace_back(instance, source);
  }
  void on_steady_state(const Database&, Instant time) override { steady_since = time; }
};

class InterpreterTest : public testing::Test {
 protected:
  Scenario scenario;
  Witness seen;
  Interpreter interpreter{scenario.threads()};
  const Database& database = interpreter.database();

  InterpreterTest() { interpreter.add(seen); }

  const Objects& run() {
    execution::run(scenario, interpreter, {});
    return database.objects();
  }
};

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

TEST_F(InterpreterTest, TakeOfNothingIsNoReception) {  // fact 12
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  scenario.publish(program, publisher, 100);
  scenario.take(program, subscription, 100, false);
  scenario.start(program, subscription.callback);
  scenario.end(program, subscription.callback);
  run();
  EXPECT_THAT(seen.takes, SizeIs(0));
  ASSERT_THAT(seen.instances, SizeIs(1));
  EXPECT_EQ(seen.instances[0].source, PublicationId::none);
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

TEST_F(InterpreterTest, OnePublicationReachesEachOfItsSubscriptions) {  // fact 14
  Program source = scenario.program(1);
  const auto publisher = scenario.publisher(source, scenario.node(source, "s"), "/t");
  std::vector<std::pair<Program, test::Subscription>> receivers;
  for (std::int64_t id = 2; id < 5; ++id) {
    Program program = scenario.program(id);
    const auto node = scenario.node(program, "r");
    const auto subscription = scenario.subscription(program, node, "/t");
    receivers.emplace_back(program, subscription);
  }
  scenario.publish(source, publisher, 1234);
  for (auto& [program, subscription] : receivers) {
    scenario.handle(program, subscription, 1234, 1);
  }
  run();
  ASSERT_THAT(seen.publications, SizeIs(1));
  const PublicationId id = seen.publications[0].id;
  EXPECT_THAT(seen.takes, ElementsAre(id, id, id));
  for (const CallbackInstance& instance : seen.instances) {
    EXPECT_EQ(instance.source, id);
  }
}

TEST_F(InterpreterTest, EqualTimestampsOfTwoTopicsAreNotAmbiguous) {  // fact 15
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto a = scenario.publisher(program, node, "/a");
  const auto b = scenario.publisher(program, node, "/b");
  const auto on_a = scenario.subscription(program, node, "/a");
  const auto on_b = scenario.subscription(program, node, "/b");
  scenario.publish(program, a, 100);
  scenario.publish(program, a, 200);
  scenario.publish(program, b, 100);
  scenario.handle(program, on_a, 100, 1);
  scenario.handle(program, on_b, 100, 1);
  scenario.handle(program, on_a, 200, 1);
  run();
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId(1), PublicationId(3), PublicationId(2)));
  EXPECT_EQ(database.anomalies().ambiguous_takes, 0u);
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

TEST_F(InterpreterTest, MessagesFromElsewhereAreSaidWithTheirTopic) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto alone = scenario.subscription(program, node, "/alone");
  const auto both = scenario.subscription(program, node, "/both");
  scenario.publisher(program, node, "/both");
  for (int i = 0; i < 3; ++i) scenario.handle(program, alone, 10 + i, 1);
  scenario.handle(program, both, 50, 1);
  run();
  const auto lines = execution::warnings(scenario, database);
  EXPECT_THAT(lines, testing::Contains(testing::StartsWith(
                         "3 messages were received on /alone and none of its publishers is in")));
  EXPECT_THAT(lines, testing::Contains(testing::HasSubstr("(1 on /both)")));
}

TEST_F(InterpreterTest, ProcessesThatWereNotRecordedAreSaid) {
  Program program = scenario.program(17, "robot", "controller");
  scenario.add(program, tracepoints::UnrecordedProcess{.why = "no library; do this"});
  run();
  EXPECT_THAT(execution::warnings(scenario, database),
              ElementsAre("1 process with ROS 2 (17, controller) was not recorded: no library; do "
                          "this"));
}

TEST_F(InterpreterTest, TwoPublishersWithTheSameTimestampAreAmbiguous) {  // fact 16, without GID
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto first = scenario.publisher(program, node, "/a");
  const auto second = scenario.publisher(program, node, "/a");
  const auto subscription = scenario.subscription(program, node, "/a");
  scenario.publish(program, first, 100);
  scenario.publish(program, second, 100);
  scenario.handle(program, subscription, 100, 1);
  run();
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId::none));
  EXPECT_EQ(database.anomalies().ambiguous_takes, 1u);
}

TEST_F(InterpreterTest, TimestampOneNanosecondOffMatchesIfItIsTheOnlyOne) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/a");
  const auto subscription = scenario.subscription(program, node, "/a");
  scenario.publish(program, publisher, 100);
  scenario.handle(program, subscription, 101, 1);  // matches 100
  scenario.publish(program, publisher, 102);
  scenario.handle(program, subscription, 101, 1);  // 100 or 102
  scenario.handle(program, subscription, 98, 1);   // neither
  run();
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId(1), PublicationId::none, PublicationId::none));
  EXPECT_EQ(database.anomalies().takes_matched_within_1ns, 1u);
  EXPECT_EQ(database.anomalies().ambiguous_takes, 1u);
  EXPECT_EQ(database.anomalies().takes_without_publication, 1u);
}

TEST_F(InterpreterTest, LinksDoNotDependOnTheHostsClocks) {  // facts 17 and 18
  // The receiving host's clock is 5 s behind, so its events come first.
  Program receiver = scenario.program(1, "receiver");
  Program sender = scenario.program(1, "sender");
  const auto subscription = scenario.subscription(receiver, scenario.node(receiver, "r"), "/t");
  const auto publisher = scenario.publisher(sender, scenario.node(sender, "s"), "/t");
  scenario.handle(receiver, subscription, 100, 1);
  scenario.handle(receiver, subscription, 200, 1);
  scenario.publish(sender, publisher, 100);
  scenario.publish(sender, publisher, 200);
  run();
  EXPECT_THAT(seen.late, ElementsAre(std::pair(InstanceId(1), PublicationId(1)),
                                     std::pair(InstanceId(2), PublicationId(2))));
  EXPECT_EQ(database.anomalies().takes_without_publication, 0u);
}

TEST_F(InterpreterTest, PublicationsBelongToTheCallbackOnTheirThread) {  // facts 20 and 21
  Program program = scenario.program(1);
  scenario.leave_out(program);
  Program worker = scenario.worker(program, 99);
  const auto node = scenario.node(program, "n");
  const auto in = scenario.publisher(program, node, "/in");
  const auto subscription = scenario.subscription(program, node, "/in");
  std::vector<Publisher> outputs;
  for (const char* topic : {"/x", "/y", "/z"}) {
    outputs.push_back(scenario.publisher(program, node, topic));
  }
  scenario.publish(program, in, 1);
  scenario.take(program, subscription, 1);
  scenario.start(program, subscription.callback);
  for (const Publisher& output : outputs) {
    scenario.publish(program, output, 2);
  }
  scenario.publish(worker, outputs[0], 3);
  scenario.end(program, subscription.callback);
  run();
  ASSERT_THAT(seen.publications, SizeIs(5));
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(seen.publications[i].instance, InstanceId(1));
    EXPECT_EQ(seen.publications[i].cause, PublicationId(1));
  }
  EXPECT_EQ(seen.publications[4].instance, InstanceId::none);
}

TEST_F(InterpreterTest, PublicationsStartAtWhicheverLayerTellsFirst) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  scenario.add(program, EventType::rclcpp_publish, {1});
  scenario.now = 10;
  scenario.add(program, EventType::rcl_publish, {publisher.handle, 1});
  scenario.now = 20;
  scenario.add(program, EventType::rmw_publish, {publisher.rmw_handle, 1, 7});
  scenario.now = 30;  // rclpy
  scenario.add(program, EventType::rcl_publish, {publisher.handle, 2});
  scenario.now = 40;
  scenario.add(program, EventType::rmw_publish, {publisher.rmw_handle, 2, 8});
  scenario.add(program, EventType::rclcpp_publish, {3});  // shut down half way
  run();
  ASSERT_THAT(seen.publications, SizeIs(2));
  EXPECT_EQ(seen.publications[0].begin, Instant(std::chrono::microseconds(0)));
  EXPECT_EQ(seen.publications[0].sent, Instant(std::chrono::microseconds(20)));
  EXPECT_EQ(seen.publications[1].begin, Instant(std::chrono::microseconds(30)));
  EXPECT_EQ(database.anomalies().unfinished_publications, 1u);
}

TEST_F(InterpreterTest, HumbleTellsThePublisherInRclAlone) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  scenario.add(program, EventType::rcl_publish, {publisher.handle, 1});
  scenario.add(program, EventType::rmw_publish, {0, 1, 0});  // fields that Humble has not are 0
  const Objects& objects = run();
  ASSERT_THAT(seen.publications, SizeIs(1));
  EXPECT_EQ(objects[seen.publications[0].topic], "/t");
  EXPECT_EQ(seen.publications[0].source_timestamp, 0);
}

TEST_F(InterpreterTest, MiddlewaresOwnMessagesAreNoPublications) {
  Program program = scenario.program(1);
  scenario.add(program, EventType::rmw_publisher_init, {0x30, 1, 2});  // ros_discovery_info
  scenario.add(program, EventType::rmw_publish, {0x30, 1, 7});
  scenario.add(program, EventType::rmw_subscription_init, {0x40, 1, 2});
  scenario.add(program, EventType::rmw_take, {0x40, 1, 7, 1});
  run();
  EXPECT_THAT(seen.publications, SizeIs(0));
  EXPECT_THAT(seen.takes, SizeIs(0));
  EXPECT_FALSE(database.anomalies().missing_initialisation());
}

TEST_F(InterpreterTest, IntraProcessMessagesAreFollowedThroughTheBuffer) {
  Program program = scenario.program(1);
  scenario.leave_out(program);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  const std::uint64_t object = 0x7000;
  const std::uint64_t callback = 0x7001;
  scenario.add(program, EventType::rclcpp_construct_ring_buffer, {0xb0, 2});
  scenario.add(program, EventType::rclcpp_buffer_to_ipb, {0xb0, 0xb1});
  scenario.add(program, EventType::rclcpp_ipb_to_subscription, {0xb1, object});
  scenario.add(program, EventType::rclcpp_subscription_callback_added, {object, callback});
  scenario.add(program, EventType::rclcpp_subscription_init, {subscription.handle, object});
  for (std::uint64_t slot : {0u, 1u}) {
    scenario.add(program, EventType::rclcpp_intra_publish, {publisher.handle, 0x55});
    scenario.add(program, EventType::rclcpp_ring_buffer_enqueue, {0xb0, slot, slot + 1, 0});
  }
  scenario.add(program, EventType::rclcpp_ring_buffer_dequeue, {0xb0, 0, 1});
  scenario.start(program, callback, true);
  scenario.end(program, callback);
  scenario.add(program, EventType::rclcpp_ring_buffer_clear, {0xb0});
  scenario.add(program, EventType::rclcpp_ring_buffer_dequeue, {0xb0, 1, 0});
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(1));
  EXPECT_TRUE(seen.instances[0].intra_process);
  EXPECT_EQ(seen.instances[0].source, PublicationId(1));
  // Both of the subscription's callbacks are one.
  EXPECT_EQ(objects[seen.instances[0].callback].subscription, SubscriptionIndex(0));
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId(1), PublicationId::none));
}

TEST_F(InterpreterTest, OnlyAnnouncedRingBuffersAreFollowedAndNotTooManySlots) {
  Program program = scenario.program(1);
  const auto enqueue = [&](std::uint64_t buffer, std::uint64_t slot) {
    scenario.add(program, tracepoints::RclcppRingBufferEnqueue{.buffer = buffer, .index = slot});
  };
  const auto announce = [&](std::uint64_t buffer) {
    scenario.add(program, tracepoints::RclcppConstructRingBuffer{.buffer = buffer, .capacity = 2});
    scenario.add(program, tracepoints::RclcppBufferToIpb{.buffer = buffer, .ipb = 1});
  };
  enqueue(0xbad, 0);
  constexpr std::uint64_t last = TakeTracker::max_slots_of_one - 1;
  constexpr std::uint64_t most = TakeTracker::max_slots / TakeTracker::max_slots_of_one;
  for (std::uint64_t buffer = 1; buffer <= most + 1; ++buffer) {
    announce(buffer);
    enqueue(buffer, last + 1);
    enqueue(buffer, last);
  }
  // A buffer that is made anew at the address of another one leaves room.
  announce(1);
  enqueue(most + 1, last);
  run();
  EXPECT_EQ(database.anomalies().buffered_messages_not_followed, 1 + (most + 1) + 1);
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
  ASSERT_TRUE(seen.instances[2].suspended);
  EXPECT_EQ(seen.instances[2].suspended->times, 1);
  EXPECT_EQ(seen.instances[2].suspended->time, std::chrono::microseconds(70));
  EXPECT_FALSE(seen.instances[3].suspended) << "a recording that does not have the waits";
  EXPECT_EQ(interpreter.database().totals().suspension_source(), "mixed");
}

TEST_F(InterpreterTest, MessagesAreFollowedWhileAnExecutorKeepsThem) {
  Program program = scenario.program(1);
  scenario.leave_out(program);
  const Program other = scenario.worker(program, 2);
  const auto node = scenario.node(program, "n");
  const auto in = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  for (const std::int64_t stamp : {1, 2, 3}) {
    scenario.publish(program, in, stamp);
  }
  for (const std::int64_t stamp : {1, 2, 3}) {
    scenario.take(program, subscription, stamp);
    scenario.add(program, EventType::message_kept, {0x100u * static_cast<unsigned>(stamp)});
  }
  // The newest first and elsewhere; the fourth overwrites the second.
  scenario.add(other, EventType::message_chosen, {0x300});
  scenario.run(other, subscription.callback, 1);
  scenario.publish(program, in, 4);
  scenario.take(program, subscription, 4);
  scenario.add(program, EventType::message_kept, {0x200});
  for (const std::uint64_t message : {0x100u, 0x200u}) {
    scenario.add(program, EventType::message_chosen, {message});
    scenario.run(program, subscription.callback, 1);
  }
  run();
  std::vector<PublicationId> sources;
  for (const CallbackInstance& instance : seen.instances) {
    sources.push_back(instance.source);
  }
  EXPECT_THAT(sources, ElementsAre(PublicationId(3), PublicationId(1), PublicationId(4)));
  EXPECT_THAT(seen.instances, Each(Field(&CallbackInstance::was_chosen, true)));
  EXPECT_EQ(database.anomalies().takes_without_callback, 0);
  EXPECT_EQ(database.anomalies().kept_messages_overwritten, 1);
  EXPECT_EQ(database.anomalies().kept_messages_forgotten, 0);
}

TEST_F(InterpreterTest, OfTooManyKeptMessagesTheOldestIsForgottenAndCounted) {
  Program program = scenario.program(1);
  scenario.leave_out(program);
  const auto node = scenario.node(program, "n");
  const auto in = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  constexpr std::uint64_t oldest = 0xffff'ffff;  // the highest address
  const auto keep = [&](std::int64_t stamp, std::uint64_t address) {
    scenario.publish(program, in, stamp);
    scenario.take(program, subscription, stamp);
    scenario.add(program, tracepoints::MessageKept{.message = address});
  };
  keep(1, oldest);
  for (std::size_t i = 0; i < TakeTracker::max_kept; ++i) {
    keep(static_cast<std::int64_t>(i) + 2, 0x10 + i);
  }
  for (const std::uint64_t address : {oldest, std::uint64_t{0x10}}) {
    scenario.add(program, tracepoints::MessageChosen{.message = address});
    scenario.run(program, subscription.callback, 1);
  }
  run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.instances[0].source, PublicationId::none);
  EXPECT_EQ(seen.instances[1].source, PublicationId(2));
  EXPECT_EQ(database.anomalies().kept_messages_forgotten, 1);
  EXPECT_EQ(database.anomalies().kept_messages_overwritten, 0);
  EXPECT_EQ(database.anomalies().takes_without_callback, 0);
}

TEST_F(InterpreterTest, OnlyAMessageThatMatchesNothingWaitsForItsPublication) {
  Program left = scenario.program(1, "left");
  scenario.leave_out(left);
  Program right = scenario.program(1, "right");
  const auto node = scenario.node(left, "n");
  const auto first = scenario.publisher(left, node, "/t");
  const auto second = scenario.publisher(left, node, "/t");
  const auto subscription = scenario.subscription(right, scenario.node(right, "m"), "/t");
  scenario.publish(left, first, 7);
  scenario.publish(left, second, 7);
  scenario.handle(right, subscription, 7, 1);   // from either
  scenario.handle(right, subscription, 50, 1);  // from a publication to come
  scenario.publish(left, first, 7);
  scenario.publish(left, first, 50);
  run();
  EXPECT_THAT(seen.late, ElementsAre(std::pair(InstanceId(2), PublicationId(4))));
  EXPECT_EQ(database.anomalies().ambiguous_takes, 1);
  EXPECT_EQ(database.anomalies().takes_without_publication, 0);
}

/// Publications are kept for a minute, and the last one of each publisher for ever: a late
/// subscription may still get that one.
TEST_F(InterpreterTest, OldMessagesAreForgottenButTheLastOfEachPublisher) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto map = scenario.publisher(program, node, "/map");
  const auto busy = scenario.publisher(program, node, "/busy");
  scenario.publish(program, map, 11);
  scenario.now += 1'000'000;
  scenario.publish(program, map, 22);
  for (std::int64_t i = 0; i < 10'000; ++i) {  // for 100 s
    scenario.now += 10'000;
    scenario.publish(program, busy, 100 * i);
  }
  const auto on_map = scenario.subscription(program, node, "/map");
  const auto on_busy = scenario.subscription(program, node, "/busy");
  scenario.take(program, on_map, 11);
  scenario.take(program, on_map, 22);
  scenario.take(program, on_busy, 0);        // 100 s ago
  scenario.take(program, on_busy, 410'000);  // 59 s ago
  run();
  const auto id = [](std::uint64_t number) { return static_cast<PublicationId>(number); };
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId::none, id(2), PublicationId::none, id(4'103)));
  EXPECT_EQ(database.publication(id(1)), nullptr);
  ASSERT_NE(database.publication(id(2)), nullptr);
  EXPECT_EQ(database.publication(id(2))->source_timestamp, 22);
}

/// The middleware makes an endpoint for itself at an address that an endpoint of ROS had before.
TEST_F(InterpreterTest, AnEndpointWhoseAddressIsUsedAgainIsNoLongerTheOldObject) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  constexpr Handle client = 0xc1;
  scenario.add(program, tracepoints::RmwClientInit{.rmw_client_handle = client, .gid = {1, 1}});
  scenario.add(program, tracepoints::RclClientInit{.client_handle = 0xc0,
                                                   .node_handle = node,
                                                   .rmw_client_handle = client,
                                                   .service_name = "/s"});
  const auto use = [&](std::int64_t stamp) {
    scenario.publish(program, publisher, stamp);
    scenario.take(program, subscription, stamp);
    scenario.add(program, tracepoints::RmwSendRequest{.rmw_client_handle = client});
  };
  use(1);
  constexpr Gid other{9, 9};
  scenario.add(program, tracepoints::RmwPublisherInit{.rmw_publisher_handle = publisher.rmw_handle,
                                                      .gid = other});
  scenario.add(program, tracepoints::RmwSubscriptionInit{
                            .rmw_subscription_handle = subscription.rmw_handle, .gid = other});
  scenario.add(program, tracepoints::RmwClientInit{.rmw_client_handle = client, .gid = other});
  scenario.add(program, tracepoints::RmwPublish{.rmw_publisher_handle = publisher.rmw_handle});
  scenario.take(program, subscription, 2);
  scenario.add(program, tracepoints::RmwSendRequest{.rmw_client_handle = client});
  run();
  EXPECT_THAT(seen.publications, SizeIs(2));  // a message and a request
  EXPECT_THAT(seen.takes, SizeIs(1));
  EXPECT_EQ(database.anomalies().unknown_publications, 1);  // the request: no service's
  EXPECT_EQ(database.anomalies().unknown_takes, 0);
}

TEST_F(InterpreterTest, WhatWasNeverKeptIsNotChosen) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto subscription = scenario.subscription(program, node, "/t");
  scenario.publish(program, scenario.publisher(program, node, "/t"), 1);
  scenario.add(program, EventType::message_kept, {0x100});
  scenario.add(program, EventType::message_chosen, {0x100});
  scenario.run(program, subscription.callback, 1);
  run();
  ASSERT_THAT(seen.instances, SizeIs(1));
  EXPECT_EQ(seen.instances[0].source, PublicationId::none);
}

TEST_F(InterpreterTest, RequestsAreFollowedToTheServicesCallback) {
  Program client = scenario.program(1);
  Program server = scenario.program(2);
  const auto caller = scenario.node(client, "caller");
  const auto timer = scenario.timer(client, caller, std::chrono::milliseconds(1));
  scenario.add(client, EventType::rmw_client_init, {0xc1, 5, 6});
  scenario.add(client, EventType::rcl_client_init, {0xc0, caller, 0xc1}, {"/s"});
  const auto node = scenario.node(server, "server");
  scenario.add(server, EventType::rcl_service_init, {0xd0, node, 0xd1}, {"/s"});
  scenario.add(server, EventType::rclcpp_service_callback_added, {0xd0, 0xd2});
  scenario.start(client, timer);
  scenario.add(client, EventType::rmw_send_request, {0xc1, 0x1, 41});
  scenario.end(client, timer);
  scenario.add(server, EventType::rmw_take_request, {0xd1, 0x2, 5, 6, 41, 1});
  scenario.start(server, 0xd2);
  scenario.end(server, 0xd2);
  scenario.add(server, EventType::rmw_take_request, {0xd1, 0x2, 5, 7, 41, 1});  // another client's
  scenario.start(server, 0xd2);
  scenario.end(server, 0xd2);
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(3));
  EXPECT_EQ(objects[seen.instances[1].callback].kind, CallbackKind::service);
  EXPECT_EQ(seen.instances[1].source, PublicationId(1));
  EXPECT_EQ(seen.publications[0].instance, InstanceId(1));
  EXPECT_EQ(seen.instances[2].source, PublicationId::none);
}

/// A timer of one process calls a service of another.
class Calls : public InterpreterTest {
 protected:
  Program client = scenario.program(1);
  Program server = scenario.program(2);
  std::uint64_t caller = scenario.node(client, "caller");
  std::uint64_t timer = scenario.timer(client, caller, std::chrono::milliseconds(1));
  test::Client to_service = scenario.client(client, caller, "/s");
  test::Service service = scenario.service(server, scenario.node(server, "server"), "/s");

  void call(std::int64_t sequence) {
    scenario.start(client, timer);
    scenario.send_request(client, to_service, sequence);
    scenario.end(client, timer);
  }
};

/// rclcpp names no callback of a client: it runs from the take to the executor's next event.
TEST_F(Calls, ReturnToTheClientsCallbackThoughNoEventNamesIt) {
  const auto publisher = scenario.publisher(client, caller, "/t");
  scenario.look(client);
  call(41);
  scenario.serve(server, service, to_service, 41, 100);
  scenario.respond(client, to_service, 41, 70, std::pair(publisher, 5));
  call(42);
  scenario.end(client, timer);
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(4));
  const CallbackInstance& response = seen.instances[2];
  EXPECT_EQ(objects[response.callback].kind, CallbackKind::client);
  EXPECT_EQ(objects.node_name(objects[response.callback]), "/caller");
  EXPECT_EQ(response.end - response.start, std::chrono::microseconds(70));
  EXPECT_TRUE(response.is_unannounced);
  ASSERT_THAT(seen.publications, SizeIs(4));
  EXPECT_EQ(seen.publications[1].kind, Publication::Kind::response);
  EXPECT_EQ(seen.publications[1].instance, seen.instances[1].id);
  EXPECT_EQ(seen.publications[1].cause, seen.publications[0].id);
  EXPECT_EQ(response.source, seen.publications[1].id);
  EXPECT_EQ(seen.publications[2].instance, response.id);
  EXPECT_EQ(seen.publications[2].cause, response.source);
  EXPECT_EQ(seen.publications[3].instance, seen.instances[3].id);  // the next timer's
  EXPECT_EQ(database.anomalies().takes_without_callback, 0u);
  EXPECT_EQ(database.executor_activity()[0].unnamed_runs, 0u);
}

/// Takt's executors name the client's callback, of which nothing else is known at first.
TEST_F(Calls, ReturnToTheClientsCallbackThatEventsName) {
  call(41);
  scenario.serve(server, service, to_service, 41, 100);
  scenario.add(client, tracepoints::RclcppExecutorExecute{.handle = 0xc0});
  scenario.take_response(client, to_service, 41);
  scenario.start(client, 0xcc);
  scenario.now += 70;
  scenario.end(client, 0xcc);
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(3));
  EXPECT_EQ(objects[seen.instances[2].callback].kind, CallbackKind::client);
  EXPECT_FALSE(seen.instances[2].is_unannounced);
  EXPECT_EQ(seen.instances[2].source, seen.publications[1].id);
  EXPECT_EQ(database.anomalies().unknown_callback_instances, 0u);
}

/// An executor without events of its own shows when it runs the next callback, not when a response
/// has ended. The response is only known to have run until it sent something last.
TEST_F(Calls, ReturnToCallbacksThatLastUntilTheySendOnExecutorsOfEvents) {
  const auto publisher = scenario.publisher(client, caller, "/t");
  call(41);
  scenario.serve(server, service, to_service, 41, 100);
  scenario.take_response(client, to_service, 41);
  scenario.publish(client, publisher, 5);
  scenario.now += 1000;
  call(42);
  scenario.serve(server, service, to_service, 42, 100);
  scenario.take_response(client, to_service, 42);
  scenario.publish(client, publisher, 6);
  run();
  ASSERT_THAT(seen.instances, SizeIs(6));
  ASSERT_THAT(seen.publications, SizeIs(6));
  for (const std::size_t response : {std::size_t{2}, std::size_t{5}}) {
    const CallbackInstance& instance = seen.instances[response];
    const Publication& sent = seen.publications[response];
    EXPECT_TRUE(instance.is_unannounced);
    EXPECT_EQ(instance.source, seen.publications[response - 1].id);
    EXPECT_EQ(sent.instance, instance.id);
    EXPECT_EQ(instance.end, sent.sent);
  }
  EXPECT_EQ(seen.publications[3].instance, seen.instances[3].id);  // the next timer's
  EXPECT_EQ(database.anomalies().open_instances, 0u);
}

/// The response is sent after the service's callback has ended, as rclcpp does, or later.
TEST_F(Calls, AreAnsweredByCallbacksThatHaveEnded) {
  scenario.look(client);
  call(41);
  scenario.take_request(server, service, to_service, 41);
  scenario.start(server, service.callback);
  scenario.end(server, service.callback);
  scenario.now += 10;
  scenario.send_response(server, service, to_service, 41);
  scenario.respond(client, to_service, 41, 70);
  run();
  ASSERT_THAT(seen.instances, SizeIs(3));
  ASSERT_THAT(seen.publications, SizeIs(2));
  EXPECT_EQ(seen.publications[1].instance, seen.instances[1].id);
  EXPECT_EQ(seen.publications[1].callback, seen.instances[1].callback);
  EXPECT_EQ(seen.publications[1].cause, seen.publications[0].id);
  EXPECT_EQ(seen.instances[2].source, seen.publications[1].id);
}

/// The sender's event follows the sending of a request; the receiver may be faster.
TEST_F(Calls, AreLinkedToRequestsThatAreToldLater) {
  const auto told_before_the_start = [&](std::int64_t sequence) {
    scenario.take_request(server, service, to_service, sequence);
    call(sequence);
    scenario.start(server, service.callback);
    scenario.end(server, service.callback);
  };
  const auto told_while_it_runs = [&](std::int64_t sequence) {
    scenario.take_request(server, service, to_service, sequence);
    scenario.start(server, service.callback);
    call(sequence);
    scenario.end(server, service.callback);
  };
  told_before_the_start(1);
  told_while_it_runs(2);
  run();
  ASSERT_THAT(seen.instances, SizeIs(4));
  EXPECT_EQ(seen.instances[1].source, seen.publications[0].id);
  EXPECT_EQ(seen.instances[3].source, seen.publications[1].id);
  EXPECT_EQ(database.anomalies().takes_without_publication, 0u);
}

/// A thread that waits for responses by hand runs no callback (rclpy, wait sets).
TEST_F(Calls, ReturnToNothingOnThreadsThatAreNoExecutors) {
  scenario.send_request(client, to_service, 41);
  scenario.serve(server, service, to_service, 41, 100);
  scenario.take_response(client, to_service, 41);
  scenario.now += 30;
  scenario.publish(client, scenario.publisher(client, caller, "/t"), 5);
  run();
  EXPECT_THAT(seen.instances, SizeIs(1));
  EXPECT_EQ(database.anomalies().takes_without_callback, 1u);
}

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

/// Actions are services and topics whose callbacks no event names.
TEST_F(InterpreterTest, PartsOfActionsAreServicesThatNoEventNames) {
  Program client = scenario.program(1);
  Program server = scenario.program(2);
  const auto caller = scenario.node(client, "caller");
  const auto goals = scenario.client(client, caller, "/go/_action/send_goal");
  const auto node = scenario.node(server, "server");
  const auto goal = scenario.silent_service(server, node, "/go/_action/send_goal");
  const auto timer = scenario.timer(client, caller, std::chrono::milliseconds(1));
  scenario.start(client, timer);
  scenario.send_request(client, goals, 1);
  scenario.end(client, timer);
  scenario.look(server);
  scenario.take_request(server, goal, goals, 1);
  scenario.now += 30'000;
  scenario.send_response(server, goal, goals, 1);
  scenario.wait(server);
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(objects[seen.instances[1].callback].kind, CallbackKind::service);
  EXPECT_EQ(seen.instances[1].end - seen.instances[1].start, std::chrono::milliseconds(30));
  EXPECT_EQ(seen.instances[1].source, seen.publications[0].id);
  EXPECT_EQ(seen.publications[1].instance, seen.instances[1].id);
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

TEST_F(InterpreterTest, DeclaredLinksNameTheirEnds) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto input = scenario.subscription(program, node, "/in");
  const auto output = scenario.publisher(program, node, "/out");
  scenario.add(program, EventType::message_link_partial_sync, {}, {},
               {{input.handle, 0xbad}, {output.handle}});
  const Objects& objects = run();
  ASSERT_THAT(objects.message_links, SizeIs(1));
  EXPECT_EQ(objects.message_links[0].kind, MessageLink::Kind::partial_sync);
  EXPECT_THAT(objects.message_links[0].inputs, ElementsAre(SubscriptionIndex(0)));
  EXPECT_THAT(objects.message_links[0].outputs, ElementsAre(PublisherIndex(0)));
  EXPECT_EQ(database.anomalies().unknown_link_ends, 1u);
}

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
