#include "takt/flow/measurement.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "../execution/relay_chain.hpp"
#include "takt/flow/document.hpp"
#include "takt/model/json.hpp"

namespace takt::flow {
namespace {

using nlohmann::json;
using test::EventType;
using test::Program;
using test::Scenario;
using testing::ElementsAre;

json measure(Scenario& scenario, const model::Model& model) {
  Measurer measurer(model);
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(measurer);
  const auto pass = execution::run(scenario, interpreter, {});
  const Measurement measurement = measurer.measurement();
  const std::string document = to_json(model, scenario, interpreter.database(), pass, measurement);
  // Asking does not change what is measured.
  EXPECT_EQ(to_json(model, scenario, interpreter.database(), pass, measurer.measurement()),
            document);
  return json::parse(document);
}

model::Model parse(const std::string& text) {
  const auto parsed = model::parse(text, "test");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? parsed->model : model::Model();
}

/// Fact 19: /source –/topic_a→ /sync_one_to_one –/topic_b→ /sink, with a 5 ms timer as root.
const char* const trivial = R"({"format": "takt/model", "version": 1,
  "executors": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
  "callbacks": [
    {"id": "timer", "node": "/source", "executor": "a", "kind": "timer",
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 5000000}},
    {"id": "relay", "node": "/sync_one_to_one", "executor": "b", "kind": "subscription",
     "topic": "/topic_a", "execution_time": {"curve": [1]}},
    {"id": "sink", "node": "/sink", "executor": "c", "kind": "subscription", "topic": "/topic_b",
     "execution_time": {"curve": [1]}}],
  "edges": [{"from": "timer", "to": "relay", "topic": "/topic_a", "delay": 30000},
            {"from": "relay", "to": "sink", "topic": "/topic_b"}],
  "chains": [{"id": "all", "callbacks": ["timer", "relay", "sink"]},
             {"id": "half", "callbacks": ["relay", "sink"]}]})";

using TrivialChain = test::RelayChain;

class Way : public TrivialChain,
            public testing::WithParamInterface<std::pair<EventType, EventType>> {};

TEST_P(Way, OfMessagesIsSplitByWhoCarriesThem) {
  const auto [write, receive] = GetParam();
  for (const std::uint64_t stamp : {1u, 2u}) {
    scenario.now = static_cast<std::int64_t>(stamp) * 5000;
    scenario.run(source, timer, 100, std::pair(a, static_cast<std::int64_t>(stamp)));
    const std::uint64_t part[] = {1, a.rmw_handle};  // of the writer's GID
    scenario.now += 10;
    scenario.add(source, write, {part[0], part[1], stamp});
    scenario.now += 5;
    scenario.add(source, write, {part[0], part[1], stamp});  // once more
    scenario.add(sink, receive, {part[0], part[1], stamp});  // by another process
    scenario.now += 15;
    scenario.add(middle, receive, {part[0], part[1], stamp});
    scenario.now += 300;
    scenario.handle(middle, on_a, static_cast<std::int64_t>(stamp), 200);
  }
  const json edges = measure(scenario, parse(trivial))["edges"];
  EXPECT_EQ(edges[0]["count"], 2);
  EXPECT_EQ(edges[0]["way"]["count"], 2);
  EXPECT_EQ(edges[0]["way"]["sending"]["max"], 10'000);
  EXPECT_EQ(edges[0]["way"]["transport"]["max"], 20'000);
  EXPECT_EQ(edges[0]["way"]["waiting"]["max"], 300'000);
  EXPECT_FALSE(edges[1].contains("way"));
}

INSTANTIATE_TEST_SUITE_P(FastDds, Way,
                         testing::Values(std::pair(EventType::dds_write, EventType::dds_receive)));
INSTANTIATE_TEST_SUITE_P(Link, Way,
                         testing::Values(std::pair(EventType::link_send, EventType::link_receive)));

TEST_F(TrivialChain, MessagesThroughSharedMemoryAreCounted) {
  for (const std::int64_t stamp : {1, 2, 3}) {
    scenario.now = stamp * 5000;
    scenario.run(source, timer, 100, std::pair(a, stamp));
    scenario.now += 50;
    if (stamp == 1) scenario.take(middle, on_a, stamp);
    if (stamp != 1) scenario.take_from_memory(middle, on_a, stamp);
    scenario.run(middle, on_a.callback, 200);
  }
  const json edge = measure(scenario, parse(trivial))["edges"][0];
  EXPECT_EQ(edge["count"], 3);
  EXPECT_EQ(edge["by_shared_memory"], 2);
}

/// The first run sends one message, the second three, the third two.
TEST_F(TrivialChain, TheMostMessagesOfOneRunAreCounted) {
  std::int64_t stamp = 0;
  std::int64_t begin = 0;
  for (const int messages : {1, 3, 2}) {
    begin += 5000;
    scenario.now = begin;
    scenario.start(source, timer);
    const std::int64_t first = stamp + 1;
    for (int n = 0; n < messages; ++n) scenario.publish(source, a, ++stamp);
    scenario.now += 100;
    scenario.end(source, timer);
    for (std::int64_t sent = first; sent <= stamp; ++sent) {
      scenario.now += 50;
      scenario.handle(middle, on_a, sent, 200, std::pair(b, sent));
    }
  }
  // Latched messages come again to a subscription that is made anew; each was sent once.
  for (const std::int64_t sent : {5, 6}) scenario.handle(middle, on_a, sent, 200);
  for (const std::int64_t sent : {5, 6}) scenario.handle(middle, on_a, sent, 200);
  const json edges = measure(scenario, parse(trivial))["edges"];
  EXPECT_EQ(edges[0]["count"], 10);
  EXPECT_EQ(edges[0]["most_of_one_run"], 3);
}

TEST_F(TrivialChain, LatencyIsFromTheTimersDueTimeToTheLastCompletion) {  // fact 19
  flow(10'020, 1);
  flow(15'000, 2);  // proves that the timer was due at 10 000, 15 000, …
  flow(20'100, 3);
  const json document = measure(scenario, parse(trivial));
  const json& chain = document["chains"][0];
  EXPECT_EQ(chain["id"], "all");
  EXPECT_EQ(chain["count"], 3);
  EXPECT_EQ(chain["samples"], (json{380'000, 360'000, 460'000}));
  EXPECT_EQ(chain["min"], 360'000);
  EXPECT_EQ(chain["max"], 460'000);
  EXPECT_EQ(chain["incomplete"], 0);
}

TEST_F(TrivialChain, LatencyIsFromTheFirstStartToTheLastCompletion) {
  for (std::int64_t i = 1; i <= 2; ++i) {
    scenario.now = 5000 * i;
    scenario.run(source, timer, 10, std::pair(a, i));
    scenario.handle(middle, on_a, i, 15, std::pair(b, i));
    scenario.handle(sink, on_b, i, 15);
  }
  const json chain = measure(scenario, parse(trivial))["chains"][0];
  EXPECT_EQ(chain["samples"], (json{40'000, 40'000}));
}

/// performance-engineering fact 10: two messages wait before the reader runs, and each instance of
/// the chain has its own.
TEST_F(TrivialChain, P10_MessagesThatWaitKeepTheirBeginnings) {
  scenario.now = 5000;
  scenario.run(source, timer, 10, std::pair(a, 1));
  scenario.now = 10'000;
  scenario.run(source, timer, 10, std::pair(a, 2));
  scenario.now = 11'000;
  scenario.handle(middle, on_a, 1, 10, std::pair(b, 1));
  scenario.handle(middle, on_a, 2, 10, std::pair(b, 2));
  scenario.handle(sink, on_b, 1, 10);
  scenario.handle(sink, on_b, 2, 10);
  const json chain = measure(scenario, parse(trivial))["chains"][0];
  EXPECT_EQ(chain["samples"], (json{6'030'000, 1'040'000}));
}

TEST_F(TrivialChain, ResponseTimesStartAtThePublicationPlusTheEdgesDelay) {
  flow(10'000, 1);
  const json document = measure(scenario, parse(trivial));
  const json& callbacks = document["callbacks"];
  EXPECT_EQ(callbacks[0]["response_time"]["max"], 100'000);
  EXPECT_EQ(callbacks[1]["response_time"]["max"], 250'000 - 30'000);
  EXPECT_EQ(callbacks[2]["response_time"]["max"], 10'000);
  EXPECT_EQ(callbacks[1]["execution_time"]["max"], 200'000);
  EXPECT_EQ(document["chains"][1]["max"], 210'000 + 20'000);
}

TEST_F(TrivialChain, MessagesThatDoNotArriveAreIncomplete) {
  flow(0, 1);
  flow(5'000, 2, false);
  const json document = measure(scenario, parse(trivial));
  EXPECT_EQ(document["chains"][0]["count"], 1);
  EXPECT_EQ(document["chains"][0]["incomplete"], 1);
}

TEST_F(TrivialChain, EachOfManyChainsCountsABeginningOnceHoweverManyEndsItHas) {
  scenario.now = 5'000;
  scenario.run(source, timer, 100, std::pair(a, 1));
  scenario.take(middle, on_a, 1);
  scenario.start(middle, on_a.callback);
  scenario.publish(middle, b, 1);
  scenario.publish(middle, b, 2);
  scenario.end(middle, on_a.callback);
  scenario.handle(sink, on_b, 1, 10);
  scenario.handle(sink, on_b, 2, 10);
  scenario.now = 10'000;
  scenario.run(source, timer, 100, std::pair(a, 2));  // nobody takes it
  model::Model model = parse(trivial);
  model.chains.assign(200, model.chains.front());
  const json document = measure(scenario, model);
  for (const json& chain : document["chains"]) {
    EXPECT_EQ(chain["count"], 2);
    EXPECT_EQ(chain["incomplete"], 1);
  }
}

TEST_F(TrivialChain, DelayIsSeenWhereTheMessageEndsAWait) {
  scenario.now = 100;
  scenario.add(middle, EventType::rclcpp_executor_wait_for_work, {0});
  scenario.now = 200;
  scenario.run(source, timer, 0, std::pair(a, 1));
  scenario.now = 270;
  scenario.add(middle, EventType::rclcpp_executor_get_next_ready, {});
  scenario.handle(middle, on_a, 1, 100);
  scenario.run(source, timer, 0, std::pair(a, 2));  // while nobody waits
  scenario.handle(middle, on_a, 2, 100);
  const json document = measure(scenario, parse(trivial));
  const json& edge = document["edges"][0];
  EXPECT_EQ(edge["from"], "timer");
  EXPECT_EQ(edge["to"], "relay");
  EXPECT_EQ(edge["count"], 2);
  EXPECT_EQ(edge["delay"]["max"], 70'000);
  EXPECT_EQ(edge["delay"]["min"], 70'000);
}

/// The model knows one of the two timers. In its order timers come before subscriptions, and they
/// did.
TEST_F(TrivialChain, AReadySetMayBeginWithACallbackThatTheModelLacks) {
  const std::uint64_t unknown = scenario.timer(middle, middle_node, std::chrono::milliseconds(7));
  const std::uint64_t known = scenario.timer(middle, middle_node, std::chrono::milliseconds(5));
  const model::Model model = parse(R"({"format": "takt/model", "version": 1,
    "executors": [{"id": "e", "order": "by_node"}],
    "callbacks": [
      {"id": "timer", "node": "/sync_one_to_one", "executor": "e", "kind": "timer",
       "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 5000000}},
      {"id": "relay", "node": "/sync_one_to_one", "executor": "e", "kind": "subscription",
       "topic": "/topic_a", "execution_time": {"curve": [1]},
       "activation": {"kind": "periodic", "period": 5000000}}]})");
  const auto begin = [&](std::int64_t time) {
    scenario.now = time;
    scenario.wait(middle);
    scenario.add(middle, EventType::rclcpp_executor_get_next_ready, {});
  };
  begin(1000);
  scenario.handle(middle, on_a, 1, 100);
  begin(2000);
  scenario.run(middle, unknown, 100);
  scenario.run(middle, known, 100);
  begin(3000);
  scenario.run(middle, known, 100);
  scenario.handle(middle, on_a, 2, 100);
  EXPECT_EQ(measure(scenario, model)["windows"],
            json::parse(R"([{"executor": "e", "count": 1, "contradicting": 0}])"));
}

/// Two messages are sent, 300 and 700 µs before the wait for them ends.
class LateMessages : public TrivialChain {
 protected:
  LateMessages() {
    scenario.now = 100;
    scenario.add(middle, EventType::rclcpp_executor_wait_for_work, {0});
    for (const std::int64_t stamp : {1, 2}) {
      scenario.now = 400 * stamp - 200;
      scenario.run(source, timer, 0, std::pair(a, stamp));
    }
    scenario.now = 900;
    scenario.add(middle, EventType::rclcpp_executor_get_next_ready, {});
    scenario.handle(middle, on_a, 2, 100);
    scenario.handle(middle, on_a, 1, 100);
  }
};

TEST_F(LateMessages, AreAllSeenToBeLate) {
  const json delay = measure(scenario, parse(trivial))["edges"][0]["delay"];
  EXPECT_EQ(delay["min"], 300'000);
  EXPECT_EQ(delay["max"], 700'000);
}

TEST_F(LateMessages, OfSeveralThreadsOnlyTheFirstOneIs) {
  model::Model model = parse(trivial);
  for (model::Executor& executor : model.executors) {
    executor.kind = model::ExecutorKind::multi_threaded;
    executor.threads = 2;
  }
  const json delay = measure(scenario, model)["edges"][0]["delay"];
  EXPECT_EQ(delay["min"], 300'000);
  EXPECT_EQ(delay["max"], 300'000);
}

TEST_F(TrivialChain, TimelineShowsActivationStartAndEnd) {
  flow(10'000, 1);
  const json timeline = measure(scenario, parse(trivial))["timeline"];
  ASSERT_EQ(timeline.size(), 3u);
  EXPECT_EQ(timeline[0], (json{{"executor", "a"},
                               {"callback", "timer"},
                               {"activation", 10'000'000},
                               {"start", 10'000'000},
                               {"end", 10'100'000}}));
  EXPECT_EQ(timeline[1]["activation"], 10'130'000);
  EXPECT_EQ(timeline[1]["start"], 10'150'000);
}

TEST_F(TrivialChain, WhatRanDuringStartUpIsLeftOut) {
  flow(0, 1);
  flow(999'000, 2);
  for (std::int64_t i = 0; i < 3; ++i) {
    flow(1'100'000 + 5'000 * i, 10 + i);
  }
  const json document = measure(scenario, parse(trivial));
  EXPECT_EQ(document["provenance"]["start_up"], 1'000'000'000);
  EXPECT_EQ(document["callbacks"][0]["count"], 3);
  const json chain = document["chains"][0];
  EXPECT_EQ(chain["count"], 3);
  // The timer was due at 5 ms when it ran at 999 ms.
  EXPECT_EQ(chain["start_up"], (json{{"count", 2}, {"max", 994'360'000}}));
}

TEST_F(TrivialChain, InstancesAboveTheGoalAreLateAndTheWorstHasItsTime) {
  json model = json::parse(trivial);
  const auto late = [&](std::int64_t goal) {
    model["chains"][0]["goal"] = goal;
    const json chain = measure(scenario, parse(model.dump()))["chains"][0];
    EXPECT_EQ(chain["goal"], goal);
    scenario.rewind();
    return chain["late"];
  };
  for (std::int64_t i = 0; i < 4; ++i) flow(5'000 * i, i + 1);
  const json chain = measure(scenario, parse(trivial))["chains"][0];
  scenario.rewind();
  EXPECT_FALSE(chain.contains("late")) << "it has no goal";
  EXPECT_EQ(chain["worst"]["time"], nullptr) << "the clock counts from no known date";
  const std::int64_t longest = chain["max"];
  EXPECT_EQ(late(longest), 0);
  EXPECT_EQ(late(longest - 1), 4) << "all take as long";
}

TEST_F(TrivialChain, AnnouncedThreadsAndLossesAreInTheDocument) {
  scenario.add(source, EventType::executor_init, {1, 2000, 5000, 6000, 0, UINT64_MAX},
               {"a", "single_threaded", "polled", "deadline"});
  scenario.lose().discarded_events = 3;
  flow(0, 1);
  const json document = measure(scenario, parse(trivial));
  EXPECT_EQ(document["executors"],
            json::parse(R"([{"id": "a", "policy": "deadline", "runtime": 2000, "deadline": 5000,
                             "period": 6000, "priority": 0, "cpu": -1}])"));
  EXPECT_EQ(document["losses"]["discarded"], 3);
}

TEST_F(TrivialChain, TheLongestWaitForAProcessorIsThatOfAReadyThread) {
  const Program kernel = scenario.program(0, "h", "");
  constexpr std::int32_t thread = 2;  // middle
  const auto switch_to = [&](std::int32_t from, std::int64_t state, std::int32_t to,
                             const std::string& name) {
    scenario.add(kernel, tracepoints::SchedSwitch{.prev_comm = "prev",
                                                  .prev_tid = from,
                                                  .prev_prio = 120,
                                                  .prev_state = state,
                                                  .next_comm = name,
                                                  .next_tid = to,
                                                  .next_prio = 120});
  };
  constexpr std::int64_t ready = 0;
  constexpr std::int64_t sleeping = 1;
  flow(0, 1);
  scenario.now += 10;
  switch_to(thread, ready, 77, "backup");
  scenario.now += 50;
  switch_to(77, ready, thread, "relay");
  scenario.now += 10;
  switch_to(thread, sleeping, 78, "short");
  scenario.now += 1000;  // it has nothing to do
  scenario.add(kernel, tracepoints::SchedWakeup{.comm = "relay", .tid = thread, .prio = 120});
  scenario.now += 20;
  switch_to(78, ready, thread, "relay");
  const json document = measure(scenario, parse(trivial));
  EXPECT_EQ(document["processor_waits"],
            json::parse(R"([{"executor": "b", "longest": 50000, "while_ran": "backup"}])"));
}

TEST(Measurement, ChainsOfTwoHostsDoNotDependOnTheirClocks) {  // fact 17
  // The sink's clock is 1 ms behind: it takes messages before they are published.
  Scenario scenario;
  Program source = scenario.program(1, "source");
  Program middle = scenario.program(1, "middle");
  const auto source_node = scenario.node(source, "source");
  const auto middle_node = scenario.node(middle, "sync_one_to_one");
  const auto a = scenario.publisher(source, source_node, "/topic_a");
  const auto timer = scenario.timer(source, source_node, std::chrono::milliseconds(5));
  const auto on_a = scenario.subscription(middle, middle_node, "/topic_a");
  for (std::int64_t i = 1; i <= 3; ++i) {
    scenario.now = 5'000 * i - 700;
    scenario.handle(middle, on_a, 100 * i, 10);
    scenario.now = 5'000 * i;
    scenario.run(source, timer, 100, std::pair(a, 100 * i));
  }
  model::Model model = parse(trivial);
  model.chains = {{"c", {model::CallbackIndex(0), model::CallbackIndex(1)}, {}, {}, {}}};
  const json document = measure(scenario, model);
  const json& chain = document["chains"][0];
  EXPECT_EQ(chain["count"], 3);
  EXPECT_EQ(chain["samples"],
            (json{-690'000, -690'000, -690'000}));  // off by the clocks, but linked
  EXPECT_EQ(document["edges"][0]["count"], 3);
  EXPECT_EQ(document["edges"][0]["delay"]["max"], nullptr);  // the clocks do not show it
}

TEST_F(TrivialChain, WithoutItsMessageACallbackIsActivatedWhenItTookIt) {
  scenario.now = 5'000;
  scenario.take(middle, on_a, 1);
  scenario.now += 30;
  scenario.run(middle, on_a.callback, 200);
  const json relay = measure(scenario, parse(trivial))["callbacks"][1];
  EXPECT_EQ(relay["response_time"]["max"], 230'000);
}

/// a and b together activate "join", which publishes to "end" (facts 25 and 26).
const char* const joined = R"({"format": "takt/model", "version": 1,
  "executors": [{"id": "e"}],
  "callbacks": [
    {"id": "a", "node": "/a", "executor": "e", "kind": "timer", "execution_time": {"curve": [1]},
     "activation": {"kind": "periodic", "period": 10000000}},
    {"id": "b", "node": "/b", "executor": "e", "kind": "timer", "execution_time": {"curve": [1]},
     "activation": {"kind": "periodic", "period": 4000000}},
    {"id": "join", "node": "/j", "executor": "e", "kind": "subscription",
     "execution_time": {"curve": [1]}}],
  "edges": [{"from": "a", "to": "join", "topic": "/ta"}, {"from": "b", "to": "join", "topic": "/tb"}],
  "joins": [{"callback": "join", "kind": "newest", "inputs": ["a", "b"]}],
  "chains": [{"id": "by_a", "callbacks": ["a", "join"]}, {"id": "by_b", "callbacks": ["b", "join"]}]})";

/// Two timers on a thread of their own, whose messages come to one node.
class JoinMeasurement : public testing::Test {
 protected:
  Scenario scenario;
  Program program = scenario.program(1);
  Program timers = scenario.worker(program, 2);
  std::uint64_t node_a = scenario.node(program, "a");
  std::uint64_t node_b = scenario.node(program, "b");
  std::uint64_t node_j = scenario.node(program, "j");
  test::Publisher a = scenario.publisher(program, node_a, "/ta");
  test::Publisher b = scenario.publisher(program, node_b, "/tb");
  std::uint64_t timer_a = scenario.timer(program, node_a, std::chrono::milliseconds(10));
  std::uint64_t timer_b = scenario.timer(program, node_b, std::chrono::milliseconds(4));
  test::Subscription on_a = scenario.subscription(program, node_j, "/ta");
  test::Subscription on_b = scenario.subscription(program, node_j, "/tb");
};

TEST_F(JoinMeasurement, OnlyTheArrivalThatCompletesASetIsAnInstance) {  // fact 25
  std::int64_t stamp = 0;
  const auto arrive = [&](std::int64_t at_ms, bool is_a) {
    scenario.now = at_ms * 1000;
    ++stamp;
    scenario.run(timers, is_a ? timer_a : timer_b, 0, std::pair(is_a ? a : b, stamp));
    scenario.handle(program, is_a ? on_a : on_b, stamp, is_a ? 300 : 1);
  };
  for (const std::int64_t time : {4, 8, 10, 12, 16, 20, 21, 24, 28, 30}) {
    arrive(time, time % 10 == 0);
  }
  const json document = measure(scenario, parse(joined));
  EXPECT_EQ(document["callbacks"][2]["count"], 3);
  EXPECT_EQ(document["callbacks"][2]["execution_time"]["min"], 300'000);
  EXPECT_EQ(document["chains"][0]["count"], 3);
  EXPECT_EQ(document["chains"][1]["count"], 0);
}

TEST_F(JoinMeasurement, SetsThatTheExecutorCompletedAreInstancesHoweverLateTheyRun) {
  const auto pass_over = [&](std::int64_t at_ms) {
    scenario.now = at_ms * 1000;
    scenario.run(timers, timer_a, 0, std::pair(a, at_ms));
    scenario.handle(program, on_a, at_ms, 0);
  };
  const auto keep = [&](std::int64_t at_ms) {
    scenario.now = at_ms * 1000;
    scenario.run(timers, timer_b, 0, std::pair(b, at_ms));
    scenario.take(program, on_b, at_ms);
    scenario.add(program, test::EventType::message_kept, {static_cast<std::uint64_t>(at_ms)});
  };
  const auto choose = [&](std::int64_t kept_at, std::int64_t at_ms) {
    scenario.now = at_ms * 1000;
    scenario.add(program, test::EventType::message_chosen, {static_cast<std::uint64_t>(kept_at)});
    scenario.run(program, on_b.callback, 100);
  };
  for (std::int64_t begin = 10; begin < 40; begin += 10) {
    pass_over(begin);
    keep(begin + 1);
    pass_over(begin + 2);
    keep(begin + 3);
    choose(begin + 1, begin + 4);
    choose(begin + 3, begin + 5);
  }
  const json document = measure(scenario, parse(joined));
  EXPECT_EQ(document["callbacks"][2]["count"], 6);
  EXPECT_EQ(document["chains"][1]["count"], 6);
}

const char* const sampled = R"({"format": "takt/model", "version": 1,
  "executors": [{"id": "e"}],
  "callbacks": [
    {"id": "sense", "node": "/s", "executor": "e", "kind": "timer",
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 10000000}},
    {"id": "keep", "node": "/c", "executor": "e", "kind": "subscription", "topic": "/scan",
     "execution_time": {"curve": [1]}},
    {"id": "control", "node": "/c", "executor": "e", "kind": "timer",
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 25000000}},
    {"id": "act", "node": "/a", "executor": "e", "kind": "subscription", "topic": "/command",
     "execution_time": {"curve": [1]}}],
  "edges": [{"from": "sense", "to": "keep", "topic": "/scan"}, {"from": "keep", "to": "control"},
            {"from": "control", "to": "act", "topic": "/command"}],
  "chains": [{"id": "all", "callbacks": ["sense", "keep", "control", "act"]}]})";

/// Measures the chain of a run in which a controller reads what a sensor sent, with a goal of a
/// kind.
json measure_sampled(const std::string& kind) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node_s = scenario.node(program, "s");
  const auto node_c = scenario.node(program, "c");
  const auto node_a = scenario.node(program, "a");
  const auto scan = scenario.publisher(program, node_s, "/scan");
  const auto command = scenario.publisher(program, node_c, "/command");
  const auto sense = scenario.timer(program, node_s, std::chrono::milliseconds(10));
  const auto control = scenario.timer(program, node_c, std::chrono::milliseconds(25));
  const auto on_scan = scenario.subscription(program, node_c, "/scan");
  const auto on_command = scenario.subscription(program, node_a, "/command");
  std::int64_t stamp = 0;
  const auto run_sensor = [&](std::int64_t at_ms) {
    scenario.now = at_ms * 1000;
    scenario.run(program, sense, 100, std::pair(scan, ++stamp));
    scenario.handle(program, on_scan, stamp, 10);
  };
  const auto run_control = [&](std::int64_t at_ms) {
    scenario.now = at_ms * 1000;
    scenario.run(program, control, 200, std::pair(command, ++stamp));
    scenario.handle(program, on_command, stamp, 50);
  };
  run_sensor(10);
  run_sensor(20);
  run_control(25);  // reads the second
  run_control(28);  // reads nothing new
  run_sensor(30);
  run_control(45);
  json model = json::parse(sampled);
  model["chains"][0]["kind"] = kind;
  return measure(scenario, parse(model.dump()))["chains"][0];
}

/// A timer reads the newest message that came since it ran last; older ones go no further.
TEST(Measurement, ChainsGoThroughTimersThatSample) {
  const json chain = measure_sampled("latency");
  EXPECT_EQ(chain["samples"], (json{5'250'000, 15'250'000}));
  EXPECT_EQ(chain["incomplete"], 1);
}

/// What happened just after the sensor ran at 10 ms is read at 20 ms and leads to the output at
/// 25.25 ms; what happened just after 20 ms to that at 45.25 ms.
TEST(Measurement, ReactionsCountFromWhenAnInputMayHaveBeenMissed) {
  const json chain = measure_sampled("reaction");
  EXPECT_EQ(chain["samples"], (json{15'250'000, 25'250'000}));
}

/// The output at 28.25 ms is still based on what was read at 20 ms.
TEST(Measurement, DataAgesUntilItIsReplaced) {
  const json chain = measure_sampled("age");
  EXPECT_EQ(chain["samples"], (json{5'250'000, 8'250'000, 15'250'000}));
  EXPECT_EQ(chain["incomplete"], 1) << "what was read at 10 ms";
}

/// A message that leads to an output answers those before it, which led to none. Activations that
/// send nothing onward are no inputs.
TEST_F(TrivialChain, ReactionsToMessagesCountFromEachThatLeadsOn) {
  json model = json::parse(trivial);
  model["chains"][1]["kind"] = "reaction";
  flow(10'000, 1);
  flow(15'000, 2, false);
  flow(20'000, 3, false);
  flow(25'000, 4);
  scenario.now = 30'000;
  scenario.run(source, timer, 100, std::pair(a, 5));
  scenario.handle(middle, on_a, 5, 200);
  flow(35'000, 6);
  const json chain = measure(scenario, parse(model.dump()))["chains"][1];
  // Each message to the relay counts as come 30 µs after its publication; it ends 280 µs later.
  EXPECT_EQ(chain["samples"], (json{230'000, 10'230'000, 5'230'000, 230'000, 230'000}));
}

/// A timer runs while the window fills with later instances, and ends when it has no room for it.
TEST(Measurement, AnInstanceThatIsOlderThanTheWindowIsCountedAndReplacesNoNewerOne) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "c");
  const auto control = scenario.timer(program, node, std::chrono::milliseconds(25));
  const auto on_scan = scenario.subscription(program, node, "/scan");
  model::Model model = parse(sampled);
  model.chains = {{"c", {model::CallbackIndex(1), model::CallbackIndex(2)}, {}, {}, {}}};
  Measurer measurer(model);
  execution::Interpreter interpreter(scenario.threads());
  execution::run(scenario, interpreter, {});
  const auto end = [&](std::uint64_t id, std::uint64_t handle, int start_ms, int end_ms) {
    execution::CallbackInstance instance;
    instance.id = execution::InstanceId(id);
    const auto& callbacks = interpreter.database().objects().callbacks;
    const auto callback = std::ranges::find(callbacks, handle, &execution::Callback::handle);
    instance.callback =
        execution::ObservedCallbackIndex(static_cast<std::size_t>(callback - callbacks.begin()));
    instance.start = Instant(std::chrono::milliseconds(start_ms));
    instance.end = Instant(std::chrono::milliseconds(end_ms));
    measurer.on_instance(interpreter.database(), instance);
  };
  const std::uint64_t later = InstanceWindow::capacity + 1;  // its place in the window is that of 1
  end(later, on_scan.callback, 10, 11);
  end(1, control, 0, 20);
  end(later + 1, control, 25, 30);
  const Measurement measurement = measurer.measurement();
  EXPECT_EQ(measurement.beyond_window, 1u);
  EXPECT_EQ(measurement.callbacks[2].count, 2u);
  EXPECT_EQ(measurement.chains[0].completed, 1u);
  const json document =
      json::parse(to_json(model, scenario, interpreter.database(), {}, measurement));
  EXPECT_EQ(document["losses"]["instances_beyond_window"], 1);
}

}  // namespace
}  // namespace takt::flow
