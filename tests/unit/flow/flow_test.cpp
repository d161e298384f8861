#include <gmock/gmock.h>

#include <optional>
#include <utility>

#include "../execution/relay_chain.hpp"
#include "flow_scenario.hpp"

namespace takt::flow {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using OneToOne = test::RelayChain;

TEST_F(OneToOne, Fact19ATimerTwoTransportsAndOneDirectLink) {
  flow(5'000, 1);
  flow(10'000, 2);
  const json document = follow(scenario);
  ASSERT_THAT(paths(document),
              ElementsAre("/source:timer-5ms > /sync_one_to_one:/topic_a > /sink:/topic_b"));
  const json& flow = document["flows"][0];
  EXPECT_EQ(flow["from"], "/source:/topic_a");
  EXPECT_EQ(flow["to"], "/sink:/topic_b");
  EXPECT_EQ(flow["count"], 2);
  EXPECT_THAT(latencies(flow), ElementsAre(0.25, 0.25));
  EXPECT_EQ(flow["span"]["max"], 360'000);  // with the timer's 100 µs and the sink's 10
  EXPECT_EQ(flow["path"][0]["topic"], nullptr);
  EXPECT_EQ(flow["path"][0]["publishes"], "/topic_a");
  EXPECT_EQ(flow["path"][2]["topic"], "/topic_b");
  EXPECT_EQ(flow["breakdown"]["running"], 200'000);
  EXPECT_EQ(flow["breakdown"]["in_transport"], 50'000);
  EXPECT_THAT(document["links"], IsEmpty());
}

TEST_F(OneToOne, AMessageInSharedMemoryIsInAStageOfItsOwn) {
  for (const std::int64_t stamp : {1, 2}) {
    scenario.now = stamp * 5'000;
    scenario.run(source, timer, 100, std::pair(a, stamp));
    scenario.now += 30;
    scenario.take_from_memory(middle, on_a, stamp);
    scenario.run(middle, on_a.callback, 200, std::pair(b, stamp));
    scenario.now += 20;
    scenario.handle(sink, on_b, stamp, 10);
  }
  const json flow = follow(scenario)["flows"][0];
  EXPECT_EQ(flow["count"], 2);
  EXPECT_EQ(flow["breakdown"]["in_shared_memory"], 30'000);
  EXPECT_EQ(flow["breakdown"]["in_transport"], 20'000);
}

/// The middleware had the message, too, and its copy was thrown away.
TEST_F(OneToOne, AMessageThatWentBothWaysWasWhereItWasTakenFrom) {
  scenario.now = 5'000;
  scenario.run(source, timer, 100, std::pair(a, 1));
  const std::uint64_t part[] = {1, a.rmw_handle};  // of the writer's GID
  scenario.add(source, EventType::dds_write, {part[0], part[1], 1});
  scenario.now += 10;
  scenario.add(middle, EventType::dds_receive, {part[0], part[1], 1});
  scenario.now += 20;
  scenario.take_from_memory(middle, on_a, 1);
  scenario.run(middle, on_a.callback, 200, std::pair(b, 1));
  const json flow = follow(scenario)["flows"][0];
  EXPECT_EQ(flow["breakdown"]["in_shared_memory"], 30'000);
  EXPECT_EQ(flow["breakdown"]["in_transport"], 0);
}

/// A coroutine of /sink awaits a service for each message, twice, and then sends.
TEST_F(OneToOne, AWayPassesAServiceAsOftenAsItIsAwaited) {
  const auto asking = scenario.node(sink, "asking");
  const test::Client client = scenario.client(sink, asking, "/s");
  const test::Publisher answered = scenario.publisher(sink, asking, "/answered");
  Program server = scenario.program(8);
  const test::Service service = scenario.service(server, scenario.node(server, "server"), "/s");
  Program last = scenario.program(9);
  const auto shown = scenario.subscription(last, scenario.node(last, "last"), "/answered");
  scenario.run(source, timer, 100, std::pair(a, 1));
  scenario.handle(middle, on_a, 1, 200, std::pair(b, 1));
  scenario.take(sink, on_b, 1);
  scenario.start(sink, on_b.callback);
  scenario.send_request(sink, client, 1);
  scenario.end(sink, on_b.callback);
  scenario.serve(server, service, client, 1, 100);
  const auto go_on = [&](std::int64_t sequence) {
    scenario.look(sink);
    scenario.take_response(sink, client, sequence);
    scenario.add(sink, tracepoints::MessageKept{.message = 0x10});
    scenario.add(sink, tracepoints::MessageChosen{.message = 0x10});
    scenario.start(sink, 0xcc);
    scenario.now += 10;
  };
  go_on(1);
  scenario.send_request(sink, client, 2);
  scenario.end(sink, 0xcc);
  scenario.serve(server, service, client, 2, 100);
  go_on(2);
  scenario.publish(sink, answered, 1);
  scenario.end(sink, 0xcc);
  scenario.handle(last, shown, 1, 10);
  EXPECT_THAT(paths(follow(scenario)),
              ElementsAre("/source:timer-5ms > /sync_one_to_one:/topic_a > /sink:/topic_b > "
                          "/server:/s > /asking:/s:response > /server:/s > /asking:/s:response > "
                          "/last:/answered"));
}

/// The node sends a message to itself until it has done the work.
TEST_F(OneToOne, AWayPassesANodeAsOftenAsItTriesAgain) {
  const test::Publisher again = scenario.publisher(middle, middle_node, "/again");
  const auto on_again = scenario.subscription(middle, middle_node, "/again");
  for (const std::int64_t i : {0, 1}) {
    scenario.now = 5'000 * (i + 1);
    scenario.run(source, timer, 100, std::pair(a, i + 1));
    scenario.handle(middle, on_a, i + 1, 200, std::pair(again, 10 * i + 1));
    scenario.handle(middle, on_again, 10 * i + 1, 50, std::pair(again, 10 * i + 2));
    scenario.handle(middle, on_again, 10 * i + 2, 50, std::pair(again, 10 * i + 3));
    scenario.handle(middle, on_again, 10 * i + 3, 50, std::pair(b, i + 1));
    scenario.handle(sink, on_b, i + 1, 100);
  }
  const json document = follow(scenario);
  EXPECT_THAT(paths(document), ElementsAre("/source:timer-5ms > /sync_one_to_one:/topic_a > "
                                           "/sync_one_to_one:/again > /sync_one_to_one:/again > "
                                           "/sync_one_to_one:/again > /sink:/topic_b"));
  EXPECT_EQ(document["flows"][0]["count"], 2);
  EXPECT_EQ(document["flows"][0]["max"], 350'000);
}

/// A loop over another node leads on for ever; a way passes it once.
TEST_F(OneToOne, AWayPassesALoopOverTwoNodesOnce) {
  const test::Publisher back = scenario.publisher(sink, sink_node, "/back");
  const auto on_back = scenario.subscription(middle, middle_node, "/back");
  scenario.run(source, timer, 100, std::pair(a, 1));
  scenario.handle(middle, on_a, 1, 100, std::pair(b, 1));
  for (const std::int64_t i : {1, 2, 3}) {
    scenario.handle(sink, on_b, i, 100, std::pair(back, i));
    scenario.handle(middle, on_back, i, 100, std::pair(b, i + 1));
  }
  for (const std::string& path : paths(follow(scenario, between("/source", "/sink")))) {
    EXPECT_EQ(path, "/source:timer-5ms > /sync_one_to_one:/topic_a > /sink:/topic_b");
  }
}

/// As a gate does, which tells of no waits.
TEST_F(OneToOne, AMessageThatAThreadKeepsHasComeWhenItWasTaken) {
  scenario.now = 5'000;
  scenario.run(source, timer, 100, std::pair(a, 1));
  scenario.now += 30;
  scenario.take(middle, on_a, 1);
  scenario.add(middle, tracepoints::MessageKept{.message = 0x10});
  scenario.now += 12'000;
  scenario.add(middle, tracepoints::MessageChosen{.message = 0x10});
  scenario.run(middle, on_a.callback, 200, std::pair(b, 1));
  scenario.handle(sink, on_b, 1, 100);
  const json flow = follow(scenario)["flows"][0];
  EXPECT_EQ(flow["breakdown"]["in_transport"], 30'000);
  EXPECT_EQ(flow["breakdown"]["waiting_in_executor"], 12'000'000);
  EXPECT_EQ(flow["breakdown"]["running"], 200'000);
}

/// What is announced of one subscription says nothing of another's message.
TEST_F(OneToOne, OnlyTheAnnouncedSubscriptionTakesFromSharedMemory) {
  scenario.now = 5'000;
  scenario.run(source, timer, 100, std::pair(a, 1));
  scenario.now += 50;
  scenario.add(middle, tracepoints::ShareTake{.rmw_subscription_handle = on_b.rmw_handle,
                                              .source_timestamp = 1});
  scenario.handle(middle, on_a, 1, 200, std::pair(b, 1));
  const json flow = follow(scenario)["flows"][0];
  EXPECT_EQ(flow["breakdown"]["in_shared_memory"], 0);
  EXPECT_EQ(flow["breakdown"]["in_transport"], 50'000);
}

TEST_F(OneToOne, Fact33ThePartsOfAPathAddUpToItsLatency) {
  flow(5'000, 1);
  const json document = follow(scenario);  // which compares them for every flow of every test
  std::int64_t parts = 0;
  for (const json& part : document["flows"][0]["worst"][0]["parts"]) {
    parts += part["duration"].get<std::int64_t>();
  }
  EXPECT_EQ(parts, 250'000);
  EXPECT_EQ(document["flows"][0]["worst"][0]["latency"], 250'000);
}

/// The example's two main callbacks and what is outside of them, in microseconds.
TEST_F(OneToOne, Fact34WhatIsOutsideTheMainCallbacksIsTheRestOfTheLatency) {
  constexpr std::int64_t transports = 242'300 - 89'500 - 112'500;
  test::Publisher c = scenario.publisher(sink, sink_node, "/topic_c");
  Program end = scenario.program(4, "h", "end");
  const test::Subscription on_c = scenario.subscription(end, scenario.node(end, "end"), "/topic_c");
  scenario.now = 500'000;
  scenario.run(source, timer, 100, std::pair(a, 1));
  scenario.now += transports / 2;
  scenario.handle(middle, on_a, 1, 89'500, std::pair(b, 1));
  scenario.now += transports / 2;
  scenario.handle(sink, on_b, 1, 112'500, std::pair(c, 1));
  scenario.handle(end, on_c, 1, 10);
  const json flow = follow(scenario)["flows"][0];
  EXPECT_THAT(latencies(flow), ElementsAre(242.3));
  EXPECT_EQ(flow["breakdown"]["running"], 202'000'000);
  std::int64_t outside = 0;
  for (const auto& [stage, time] : flow["breakdown"].items()) {
    outside += stage == "running" ? 0 : time.get<std::int64_t>();
  }
  EXPECT_EQ(outside, 40'300'000);
}

/// performance-engineering fact 11, in µs: the first callback starts at 0, messages are written at
/// 10, 25 and 40. The last callback goes on until 55, which does not count.
TEST_F(OneToOne, P11_FromTheFirstStartToTheWriteOfTheLastMessage) {
  const test::Publisher c = scenario.publisher(sink, sink_node, "/topic_c");
  scenario.now = 5000;
  scenario.run(source, timer, 10, std::pair(a, 1));
  scenario.handle(middle, on_a, 1, 15, std::pair(b, 1));
  scenario.take(sink, on_b, 1);
  scenario.start(sink, on_b.callback);
  scenario.now += 15;
  scenario.publish(sink, c, 1);
  scenario.now += 15;
  scenario.end(sink, on_b.callback);
  const json flow = follow(scenario, between("/source", "/topic_c"))["flows"][0];
  EXPECT_EQ(flow["to"], "/sink:/topic_c");
  EXPECT_EQ(flow["span"]["max"], 40'000);
}

TEST_F(OneToOne, NamesAreTopicsNodesBothOrCallbacksWithOrWithoutTheSlash) {
  flow(5'000, 1);
  flow(10'000, 2);
  for (const char* from : {"/source", "source", "/topic_a", "topic_a", "/source:/topic_a",
                           "source:topic_a", "/source:timer-5ms", "Node::on_timer"}) {
    for (const char* to : {"/sink", "sink", "/topic_b", "sink:topic_b", "/sink:/topic_b"}) {
      const json document = follow(scenario, between(from, to));
      ASSERT_EQ(document["flows"].size(), 1u) << from << " to " << to;
      EXPECT_THAT(latencies(document["flows"][0]), ElementsAre(0.25, 0.25));
    }
  }
  // From the middle: from what it publishes; to the middle: to where it begins to handle.
  const json from_middle = follow(scenario, between("sync_one_to_one", "sink"));
  EXPECT_THAT(latencies(from_middle["flows"][0]), ElementsAre(0.0, 0.0));
  const json to_middle = follow(scenario, between("source", "sync_one_to_one"));
  EXPECT_THAT(latencies(to_middle["flows"][0]), ElementsAre(0.05, 0.05));
  EXPECT_THAT(follow(scenario, between("sink", "source"))["flows"], IsEmpty());
}

TEST_F(OneToOne, AnUnknownNameProposesOthers) {
  flow(5'000, 1);
  FlowTracker tracker(between("topic_x", "sink"));
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(tracker);
  execution::run(scenario, interpreter, {});
  const auto done = tracker.finish(interpreter.database());
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message,
              HasSubstr("--from: no topic, node or callback is called \"topic_x\"; did you mean "
                        "\"/topic_a\" or \"/topic_b\"?"));
}

TEST_F(OneToOne, Fact12ATakeThatFoundNothingMakesNoLink) {
  scenario.now = 5'000;
  scenario.run(source, timer, 100, std::pair(a, 1));
  scenario.take(middle, on_a, 1, false);
  EXPECT_THAT(follow(scenario)["flows"], IsEmpty());
}

TEST_F(OneToOne, Fact21APublicationOnAnotherThreadDuringACallbackIsNoDirectLink) {
  const Program worker = scenario.worker(middle, 99);
  scenario.now = 5'000;
  scenario.run(source, timer, 100, std::pair(a, 1));
  scenario.take(middle, on_a, 1);
  scenario.start(middle, on_a.callback);
  scenario.now += 100;
  scenario.publish(worker, b, 2);
  scenario.now += 100;
  scenario.end(middle, on_a.callback);
  scenario.handle(sink, on_b, 2, 10);
  const json document = follow(scenario);
  EXPECT_THAT(paths(document),
              ElementsAre("/source:timer-5ms > /sync_one_to_one:/topic_a", "? > /sink:/topic_b"));
}

TEST_F(OneToOne, AFlowEndsWithAMessageThatNobodyHandles) {
  scenario.now = 5'000;
  scenario.run(source, timer, 100, std::pair(a, 1));
  scenario.now += 50;
  scenario.handle(middle, on_a, 1, 200, std::pair(b, 1));
  for (const json& document :
       {follow(scenario), follow(scenario, between("/topic_a", "/topic_b"))}) {
    const bool is_whole = document["to"].is_null();
    ASSERT_EQ(document["flows"].size(), is_whole ? 1u : 0u);  // /topic_b has a subscription
    if (is_whole) {
      const json& flow = document["flows"][0];
      EXPECT_EQ(flow["to"], "/sync_one_to_one:/topic_b");
      EXPECT_EQ(flow["path"][1]["publishes"], "/topic_b");
      EXPECT_THAT(latencies(flow), ElementsAre(0.25));
    }
  }
}

TEST_F(OneToOne, Fact13ACallbackThatGoesOnAtTheEndHasNoFlow) {
  flow(5'000, 1);
  scenario.now = 10'000;
  scenario.run(source, timer, 100, std::pair(a, 2));
  scenario.take(middle, on_a, 2);
  scenario.start(middle, on_a.callback);
  const json document = follow(scenario);
  EXPECT_EQ(document["losses"]["open_instances"], 1);
  EXPECT_EQ(document["flows"][0]["count"], 1);
}

TEST_F(OneToOne, AMessageWhosePublicationWasLostIsCounted) {
  flow(5'000, 1);
  scenario.now = 10'000;
  scenario.handle(middle, on_a, 77, 200, std::pair(b, 2));
  scenario.handle(sink, on_b, 2, 10);
  const json document = follow(scenario);
  EXPECT_EQ(document["losses"]["takes_without_publication"], 1);
  EXPECT_EQ(document["unlinked"]["sources_not_in_trace"], 1);
  EXPECT_THAT(paths(document),
              ElementsAre("/source:timer-5ms > /sync_one_to_one:/topic_a > /sink:/topic_b",
                          "/sync_one_to_one:/topic_a > /sink:/topic_b"));
}

TEST_F(OneToOne, WindowsGiveWhatTheWholeGives) {
  for (std::int64_t i = 1; i <= 400; ++i) {
    flow(5'000 * i + i % 7, i);
  }
  json whole = follow(scenario);
  FlowOptions options;
  options.window = 64;
  json windowed = follow(scenario, options);
  EXPECT_EQ(windowed["flows"], whole["flows"]);
  EXPECT_EQ(windowed["unlinked"], whole["unlinked"]);
}

/// The most rows that a tracker keeps at once if it reads the scenario event by event.
std::uint64_t most_rows(Scenario& scenario, std::uint64_t window) {
  FlowOptions options;
  options.window = window;
  FlowTracker tracker(options);
  struct Watch final : execution::Observer {
    explicit Watch(const FlowTracker& watched) : tracker(watched) {}
    void look() { most = std::max(most, tracker.store().rows() + tracker.states().rows()); }
    void on_publication(const execution::Database&, const execution::Publication&) override {
      look();
    }
    void on_take(const execution::Database&, const execution::Take&) override { look(); }
    void on_switch(const execution::Database&, const execution::Occurrence&,
                   const tracepoints::SchedSwitch&) override {
      look();
    }
    const FlowTracker& tracker;
    std::uint64_t most = 0;
  } watch(tracker);
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(tracker);
  interpreter.add(watch);
  execution::run(scenario, interpreter, {});
  EXPECT_TRUE(tracker.finish(interpreter.database()));
  return watch.most;
}

TEST_F(OneToOne, TheWindowBoundsMessagesThatNoCallbackSends) {
  for (std::int64_t i = 1; i <= 1000; ++i) {
    scenario.publish(source, a, i);
  }
  EXPECT_LE(most_rows(scenario, 64), 64u);
}

TEST_F(OneToOne, TheWindowBoundsMessagesOfOneRun) {
  scenario.start(source, timer);
  for (std::int64_t i = 1; i <= 1000; ++i) {
    scenario.publish(source, a, i);
  }
  scenario.end(source, timer);
  EXPECT_LE(most_rows(scenario, 64), 64u);
  scenario.rewind();
  FlowOptions options;
  options.window = 64;
  EXPECT_EQ(follow(scenario, options)["unlinked"]["runs_too_long"], 0);
}

TEST_F(OneToOne, TheWindowBoundsTimesOffTheProcessor) {
  for (int i = 0; i < 1000; ++i) {
    scenario.now += 10;
    const bool leaves = i % 2 == 0;
    scenario.add(source,
                 tracepoints::SchedSwitch{.prev_tid = leaves ? 1 : 0, .next_tid = leaves ? 0 : 1});
  }
  EXPECT_LE(most_rows(scenario, 64), 64u);
}

TEST_F(OneToOne, TheWindowBoundsTakesOfAJoinThatNothingHandles) {
  scenario.add(middle, EventType::inputs_linked, {0}, {"newest"}, {{on_a.callback, on_a.callback}});
  for (std::int64_t i = 1; i <= 1000; ++i) {
    scenario.now += 10;
    scenario.take(middle, on_a, i);
  }
  EXPECT_LE(most_rows(scenario, 64), 64u);
}

TEST_F(OneToOne, ARunOfMostOfTheWindowIsCounted) {
  scenario.now = 1'000;
  scenario.run(source, timer, 100, std::pair(a, 1));
  scenario.take(middle, on_a, 1);
  scenario.start(middle, on_a.callback);
  for (std::int64_t i = 2; i <= 200; ++i) {
    scenario.now += 10;
    scenario.publish(source, a, i);
    scenario.run(source, timer, 0);
  }
  scenario.publish(middle, b, 1);
  scenario.end(middle, on_a.callback);
  FlowOptions options;
  options.window = 64;
  EXPECT_EQ(follow(scenario, options)["unlinked"]["runs_too_long"], 1);
}

TEST_F(OneToOne, FirstLastAndReactionCountMessagesThatLedNowhere) {
  flow(5'000, 1);
  scenario.now = 10'000;  // this one is replaced before anybody takes it
  scenario.run(source, timer, 100, std::pair(a, 2));
  flow(15'000, 3);
  const json flow = follow(scenario)["flows"][0];
  EXPECT_EQ(flow["count"], 2);
  EXPECT_EQ(flow["first"]["max"], 250'000);
  EXPECT_EQ(flow["last"]["max"], 250'000);
  EXPECT_EQ(flow["reaction"]["max"], 5'250'000);
  EXPECT_EQ(flow["reaction"]["min"], 250'000);
}

TEST_F(OneToOne, WaitsBehindOtherCallbacksAreNamed) {
  scenario.now = 5'000;
  scenario.run(source, timer, 100, std::pair(a, 1));
  scenario.run(source, timer, 0, std::pair(a, 2));
  scenario.now += 50;
  scenario.handle(middle, on_a, 1, 200, std::pair(b, 1));
  scenario.now += 5;
  scenario.handle(middle, on_a, 2, 200, std::pair(b, 2));
  scenario.handle(sink, on_b, 2, 10);
  const json worst = follow(scenario)["flows"][0]["worst"][0];
  std::vector<std::string> stages;
  for (const json& part : worst["parts"]) {
    stages.push_back(part["stage"].get<std::string>() + " " +
                     std::to_string(part["duration"].get<int>()) + " " +
                     (part["callback"].is_null() ? "-" : part["callback"].get<std::string>()));
  }
  EXPECT_THAT(
      stages,
      ElementsAre("in_transport 50000 -", "waiting_in_executor 200000 /sync_one_to_one:/topic_a",
                  "waiting_in_executor 5000 -", "running 200000 /sync_one_to_one:/topic_a"));
}

/// Nodes in a row that each join two inputs and publish both inputs of the next one.
/// The middleware delivered three messages together, long after they were sent: nobody waited for
/// the executor, which slept.
TEST(Transport, MessagesThatCameTogetherWereAllOnTheirWayUntilTheOldestCame) {
  Scenario scenario;
  Program sender = scenario.program(1, "h", "sender");
  Program receiver = scenario.program(2, "h", "receiver");
  const auto source = scenario.node(sender, "source");
  const auto sink = scenario.node(receiver, "sink");
  const auto publisher = scenario.publisher(sender, source, "/t");
  const auto subscription = scenario.subscription(receiver, sink, "/t");
  scenario.wait(receiver);
  for (const std::int64_t stamp : {1, 2, 3}) {
    scenario.publish(sender, publisher, stamp);
    scenario.now += 20'000;
  }
  for (const std::int64_t stamp : {1, 2, 3}) {
    scenario.look(receiver);
    scenario.handle(receiver, subscription, stamp, 100);
    scenario.wait(receiver);
    scenario.now += 5;
  }
  // This one came while the executor was busy.
  scenario.look(receiver);
  scenario.publish(sender, publisher, 4);
  scenario.now += 3'000;
  scenario.wait(receiver);
  scenario.now += 5;
  scenario.look(receiver);
  scenario.handle(receiver, subscription, 4, 100);
  const json document = follow(scenario, between("/t", "/sink:/t"));
  ASSERT_EQ(document["flows"].size(), 1u);
  const auto spent = [](const json& told, const char* stage) -> double {
    double time = 0;
    for (const json& part : told["parts"]) {
      time += part["stage"] == stage ? part["duration"].get<double>() : 0;
    }
    return time;
  };
  const json& worst = document["flows"][0]["worst"];
  ASSERT_EQ(worst.size(), 4u);
  // They waited for the runs of those before them, and the last one for its executor alone.
  EXPECT_NEAR(spent(worst[0], "in_transport"), 60'000'000, 5'000);
  EXPECT_EQ(spent(worst[0], "waiting_in_executor"), 0);
  EXPECT_NEAR(spent(worst[1], "in_transport"), 40'000'000, 5'000);
  EXPECT_NEAR(spent(worst[1], "waiting_in_executor"), 100'000, 5'000);
  EXPECT_NEAR(spent(worst[2], "in_transport"), 20'000'000, 5'000);
  EXPECT_NEAR(spent(worst[2], "waiting_in_executor"), 205'000, 5'000);
  EXPECT_NEAR(spent(worst[3], "in_transport"), 0, 5'000);
  EXPECT_NEAR(spent(worst[3], "waiting_in_executor"), 3'000'000, 5'000);
}

TEST_F(OneToOne, AllThatAreCalledAlikeAreShownWithTheirNumbers) {
  Program other = scenario.program(9, "h", "twin");
  const auto twin = scenario.subscription(other, scenario.node(other, "sink"), "/topic_b");
  const auto again = scenario.subscription(sink, sink_node, "/topic_b");
  flow(5'000, 1);
  for (const auto& [program, reader] : {std::pair(other, twin), std::pair(sink, again)}) {
    scenario.now += 100;
    scenario.handle(program, reader, 1, 10);
  }
  for (const char* to : {"/sink:/topic_b", "/sink", "/topic_b"}) {
    std::vector<std::string> ends;
    const json document = follow(scenario, between("/topic_a", to));
    for (const json& found : document["flows"]) {
      ends.push_back(found["to"].get<std::string>());
    }
    EXPECT_THAT(ends, testing::UnorderedElementsAre("/sink:/topic_b", "/sink:/topic_b#2",
                                                    "/sink:/topic_b#3"))
        << to;
  }
  const json one = follow(scenario, between("/topic_a", "/sink:/topic_b#2"));
  EXPECT_EQ(one["flows"].size(), 1u);
}

TEST_F(OneToOne, PublishersOfNodesThatAreCalledAlikeAreShownWithTheirNumbers) {
  Program other = scenario.program(9, "h", "twin");
  const auto node = scenario.node(other, "sync_one_to_one");
  const auto publisher = scenario.publisher(other, node, "/topic_b");
  flow(5'000, 1);
  scenario.publish(other, publisher, 2);
  scenario.handle(sink, on_b, 2, 10);
  std::vector<std::string> begins;
  const json document = follow(scenario, between("sync_one_to_one:topic_b", "sink"));
  for (const json& found : document["flows"]) {
    begins.push_back(found["from"].get<std::string>());
  }
  EXPECT_THAT(begins, testing::UnorderedElementsAre("/sync_one_to_one:/topic_b",
                                                    "/sync_one_to_one:/topic_b#2"));
}

TEST(Timers, ThatFireOnceAreLateAfterTheirPeriodAlone) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto input = scenario.subscription(program, node, "/x");
  const auto output = scenario.publisher(program, node, "/y");
  const auto reader = scenario.subscription(program, node, "/y");
  for (int stamp = 1; stamp <= 12; ++stamp) {
    scenario.now = stamp * 300'000;
    scenario.take(program, input, stamp);
    scenario.start(program, input.callback);
    const auto timer = scenario.timer(program, node, std::chrono::milliseconds(40));
    scenario.now += 1'000;
    scenario.end(program, input.callback);
    scenario.now = stamp * 300'000 + (stamp == 9 ? 240'000 : 40'050);  // starved once
    scenario.run(program, timer, 100, std::pair(output, stamp));
    scenario.handle(program, reader, stamp, 10);
  }
  FlowOptions options;
  options.to = "/n:/y";
  const json document = follow(scenario, options);
  ASSERT_EQ(document["flows"].size(), 1u);
  EXPECT_EQ(document["flows"][0]["from"], "/n");
  double due = 0;
  double executor = 0;
  for (const json& part : document["flows"][0]["worst"][0]["parts"]) {
    due += part["stage"] == "waiting_for_timer" ? part["duration"].get<double>() : 0;
    executor += part["stage"] == "waiting_in_executor" ? part["duration"].get<double>() : 0;
  }
  EXPECT_NEAR(due, 40'000'000, 1'000'000);
  EXPECT_NEAR(executor, 200'000'000, 1'000'000);
}

TEST(Joins, InARowAreFollowedAsFarAsTheLimitAlsoWhereNoWayLeadsToTheSource) {
  constexpr int joins = 20;
  Scenario scenario;
  Program program = scenario.program(1);
  Program elsewhere = scenario.program(2);
  const auto far = scenario.node(elsewhere, "far");
  const auto unrelated = scenario.publisher(elsewhere, far, "/unrelated");
  struct Stage {
    test::Publisher left, right;
    test::Subscription on_left, on_right;
  };
  std::vector<Stage> stages;
  std::uint64_t sender = scenario.node(program, "source");
  for (int i = 0; i <= joins; ++i) {
    const auto node = scenario.node(program, "join" + std::to_string(i));
    const std::string left = "/left" + std::to_string(i);
    const std::string right = "/right" + std::to_string(i);
    stages.push_back(
        {scenario.publisher(program, sender, left), scenario.publisher(program, sender, right),
         scenario.subscription(program, node, left), scenario.subscription(program, node, right)});
    if (i > 0) {
      const Stage& before = stages[static_cast<std::size_t>(i) - 1];
      scenario.add(program, EventType::message_link_partial_sync, {}, {},
                   {{before.on_left.handle, before.on_right.handle},
                    {stages.back().left.handle, stages.back().right.handle}});
    }
    sender = node;
  }
  scenario.publish(elsewhere, unrelated, 1);
  scenario.now = 1000;
  scenario.publish(program, stages[0].left, 1);
  scenario.publish(program, stages[0].right, 1);
  for (int i = 0; i < joins; ++i) {
    const Stage& stage = stages[static_cast<std::size_t>(i)];
    const Stage& next = stages[static_cast<std::size_t>(i) + 1];
    scenario.now += 10;
    scenario.handle(program, stage.on_left, 1, 1);
    scenario.take(program, stage.on_right, 1);
    scenario.start(program, stage.on_right.callback);
    scenario.publish(program, next.left, 1);
    scenario.publish(program, next.right, 1);
    scenario.end(program, stage.on_right.callback);
  }
  scenario.handle(program, stages[joins].on_left, 1, 1);
  scenario.handle(program, stages[joins].on_right, 1, 1);
  const json document = follow(scenario, between("/unrelated", "join" + std::to_string(joins)));
  EXPECT_THAT(document["flows"], IsEmpty());
  EXPECT_EQ(document["unlinked"]["ways_not_followed"], 2);  // one for each run of the sink
}

TEST(Transport, Fact14EachMessageHasOneSourceAndALinkForEachReceiver) {
  Scenario scenario;
  Program source = scenario.program(1);
  const auto node = scenario.node(source, "source");
  const auto publisher = scenario.publisher(source, node, "/a");
  const auto timer = scenario.timer(source, node, std::chrono::milliseconds(10));
  std::vector<std::pair<Program, test::Subscription>> receivers;
  for (const int number : {2, 3, 4}) {
    Program program = scenario.program(number);
    const auto other = scenario.node(program, "sink" + std::to_string(number));
    receivers.emplace_back(program, scenario.subscription(program, other, "/a"));
  }
  scenario.run(source, timer, 10, std::pair(publisher, 100));
  for (const auto& [program, subscription] : receivers) {
    scenario.handle(program, subscription, 100, 5);
  }
  const json document = follow(scenario);
  EXPECT_THAT(paths(document),
              ElementsAre("/source:timer-10ms > /sink2:/a", "/source:timer-10ms > /sink3:/a",
                          "/source:timer-10ms > /sink4:/a"));
  for (const json& flow : document["flows"]) {
    EXPECT_EQ(flow["count"], 1);
  }
}

TEST(Transport, Fact15And16EqualTimestampsAreToldApartByTheTopicAndNeverGuessed) {
  Scenario scenario;
  Program source = scenario.program(1);
  Program sink = scenario.program(2);
  const auto node = scenario.node(source, "source");
  const auto other = scenario.node(sink, "sink");
  const auto a = scenario.publisher(source, node, "/a");
  const auto also_a = scenario.publisher(source, node, "/a");
  const auto b = scenario.publisher(source, node, "/b");
  const auto on_a = scenario.subscription(sink, other, "/a");
  const auto on_b = scenario.subscription(sink, other, "/b");
  scenario.publish(source, a, 100);
  scenario.publish(source, b, 100);
  scenario.publish(source, a, 200);
  scenario.handle(sink, on_a, 100, 1);
  scenario.handle(sink, on_b, 100, 1);
  scenario.handle(sink, on_a, 200, 1);
  json document = follow(scenario);
  EXPECT_EQ(document["flows"].size(), 2u);
  EXPECT_EQ(document["flows"][0]["count"].get<int>() + document["flows"][1]["count"].get<int>(), 3);
  EXPECT_FALSE(document["losses"].contains("ambiguous_takes"));

  scenario.publish(source, a, 300);
  scenario.publish(source, also_a, 300);
  scenario.handle(sink, on_a, 300, 1);
  document = follow(scenario);
  EXPECT_EQ(document["losses"]["ambiguous_takes"], 1);
  EXPECT_EQ(document["unlinked"]["sources_not_in_trace"], 1);
}

TEST(Direct, Fact20ACallbackThatPublishesOnThreeTopicsHasThreeLinks) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "relay");
  const auto in = scenario.publisher(program, node, "/in");
  const auto on_in = scenario.subscription(program, node, "/in");
  scenario.publish(program, in, 1);
  std::vector<std::pair<test::Publisher, test::Subscription>> outs;
  for (const char* topic : {"/x", "/y", "/z"}) {
    outs.emplace_back(scenario.publisher(program, node, topic),
                      scenario.subscription(program, node, topic));
  }
  scenario.take(program, on_in, 1);
  scenario.start(program, on_in.callback);
  for (const auto& [publisher, subscription] : outs) {
    scenario.now += 10;
    scenario.publish(program, publisher, 7);
  }
  scenario.end(program, on_in.callback);
  for (const auto& [publisher, subscription] : outs) {
    scenario.handle(program, subscription, 7, 3);
  }
  EXPECT_THAT(paths(follow(scenario)),
              ElementsAre("? > /relay:/in > /relay:/x", "? > /relay:/in > /relay:/y",
                          "? > /relay:/in > /relay:/z"));
}

/// A planner keeps what it hears, and a timer of it asks somebody because of it.
TEST(Sampled, WhatATimerReadsGoesIntoTheRequestsThatItSends) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto source = scenario.node(program, "source");
  const auto planner = scenario.node(program, "planner");
  const auto server = scenario.node(program, "server");
  const test::Publisher out = scenario.publisher(program, source, "/object");
  const test::Subscription in = scenario.subscription(program, planner, "/object");
  const auto timer = scenario.timer(program, planner, std::chrono::milliseconds(20));
  const test::Client client = scenario.client(program, planner, "/plan");
  const test::Service service = scenario.service(program, server, "/plan");
  for (std::int64_t i = 1; i <= 12; ++i) {
    scenario.now = 20'000 * i;
    scenario.publish(program, out, i);
    scenario.handle(program, in, i, 2);
    scenario.now += 5'000;
    scenario.start(program, timer);
    scenario.send_request(program, client, i);
    scenario.end(program, timer);
    scenario.serve(program, service, client, i, 10);
  }
  const json document = follow(scenario);
  EXPECT_THAT(paths(document),
              testing::Contains("? > /planner:/object > /planner:timer-20ms > /server:/plan"));
}

TEST(Transforms, Fact31AListenerOfTheSameProcessAddsNothing) {
  Scenario scenario;
  Program robot = scenario.program(1);
  Program viewer = scenario.program(2);
  const auto node = scenario.node(robot, "odometry");
  const auto listener = scenario.node(robot, "transform_listener");
  const auto other = scenario.node(viewer, "transform_listener_2");
  const auto timer = scenario.timer(robot, node, std::chrono::milliseconds(10));
  const auto tf = scenario.publisher(robot, node, "/tf");
  const auto own = scenario.subscription(robot, listener, "/tf");
  const auto remote = scenario.subscription(viewer, other, "/tf");
  scenario.run(robot, timer, 10, std::pair(tf, 1));
  scenario.handle(robot, own, 1, 5);
  scenario.handle(viewer, remote, 1, 5);
  EXPECT_THAT(paths(follow(scenario)),
              ElementsAre("/odometry:timer-10ms > /transform_listener_2:/tf"));
}

TEST(Identity, Fact6WithoutInitialisationThereAreNoNamesAndNoFlows) {
  Scenario scenario;
  const Program program = scenario.program(1);
  scenario.publish(program, {0x1, 0x2}, 1);
  scenario.handle(program, {0x3, 0x4, 0x5}, 1, 10);
  const json document = follow(scenario);
  EXPECT_THAT(document["flows"], IsEmpty());
  EXPECT_THAT(document["provenance"]["warnings"].dump(), HasSubstr("before the programs"));
}

}  // namespace
}  // namespace takt::flow
