#include "takt/execution/summary.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "scenario.hpp"
#include "takt/execution/document.hpp"

namespace takt::execution {
namespace {

using nlohmann::json;
using test::EventType;
using test::Program;
using test::Scenario;

json summarise(Scenario& scenario) {
  Summarizer summarizer;
  Interpreter interpreter(scenario.threads());
  interpreter.add(summarizer);
  const Pass pass = run(scenario, interpreter, {});
  return json::parse(to_json(scenario, interpreter.database(), pass, summarizer.summary()));
}

TEST(Summary, IsTheSameIfEventsComeOneByOne) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  for (const std::int64_t stamp : {1, 2, 3}) {
    scenario.now += 1'000'000;
    scenario.publish(program, publisher, stamp);
    scenario.handle(program, subscription, stamp, 10 * stamp);
  }
  const json at_once = summarise(scenario);

  scenario.rewind();
  events::Batch batch;
  ASSERT_TRUE(scenario.read(batch));
  Summarizer summarizer;
  Interpreter interpreter(scenario.threads());
  interpreter.add(summarizer);
  for (const events::Event& event : batch.events) {
    events::Batch alone;
    alone.events.push_back(event);
    if (event.payload != events::no_payload) {
      alone.events[0].payload = 0;
      alone.payloads.push_back(batch.payload(event));
    }
    interpreter.consume(alone.events[0], alone);
  }
  interpreter.finish();
  Pass pass;
  pass.events = batch.events.size();
  pass.first = batch.events.front().time;
  pass.last = batch.events.back().time;
  json one_by_one =
      json::parse(to_json(scenario, interpreter.database(), pass, summarizer.summary()));
  one_by_one["seconds"] = at_once["seconds"];
  EXPECT_EQ(one_by_one, at_once);
  EXPECT_EQ(at_once["callbacks"][0]["count"], 3);
}

/// Of two containers of a host, whose programs have one name or two, and of another host.
TEST(Summary, CountsTheNodesOfProcessesWithTheSameNumberApart) {
  struct Of {
    std::uint64_t name_space;
    std::string host;
    std::string program;
    int nodes;
  };
  const std::vector<Of> all{
      {7, "one", "a", 1}, {8, "one", "a", 3}, {9, "one", "b", 1}, {7, "two", "a", 2}};
  Scenario scenario;
  for (const Of& each : all) {
    Program program = scenario.program({1, each.name_space}, each.host, each.program);
    for (int i = 0; i < each.nodes; ++i) scenario.node(program, fmt::format("n{}", i), "/");
  }
  const json processes = summarise(scenario)["processes"];
  ASSERT_EQ(processes.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(processes[i]["pid"], 1);
    EXPECT_EQ(processes[i]["host"], all[i].host);
    EXPECT_EQ(processes[i]["name"], all[i].program);
    EXPECT_EQ(processes[i]["nodes"], all[i].nodes);
  }
}

TEST(Summary, ListsWhatTheTraceTells) {
  Scenario scenario;
  Program program = scenario.program(17, "host", "proc");
  scenario.add(program, EventType::rcl_init, {1}, {"8.2.2"});
  const auto node = scenario.node(program, "n", "/ns");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t", "N::f()");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(5), "N::g()");
  for (std::int64_t i = 1; i <= 3; ++i) {
    scenario.run(program, timer, 10 * i, std::pair(publisher, i));
    scenario.handle(program, subscription, i, 100);
  }
  const json document = summarise(scenario);
  EXPECT_EQ(document["format"], "takt/info");
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["by_name"]["ros2:callback_start"], 6);
  EXPECT_EQ(document["discarded"], 0);
  EXPECT_EQ(document["duration"], 360'000);
  EXPECT_EQ(document["processes"],
            json::parse(R"([{"name": "proc", "pid": 17, "host": "host", "threads": 1, "nodes": 1,
                             "tracetools": "8.2.2"}])"));
  EXPECT_EQ(document["nodes"][0]["name"], "/ns/n");
  EXPECT_EQ(document["topics"], json::parse(R"([{"name": "/t", "publishers": 1,
      "subscriptions": 1, "publications": 3, "takes": 3, "left_out": 0}])"));
  EXPECT_EQ(document["timers"], json::parse(R"([{"node": "/ns/n", "period": 5000000,
      "callback": "/ns/n:timer-5ms"}])"));
  const json& callbacks = document["callbacks"];
  ASSERT_EQ(callbacks.size(), 2u);
  EXPECT_EQ(callbacks[0]["name"], "N::f");
  EXPECT_EQ(callbacks[0]["kind"], "subscription");
  EXPECT_EQ(callbacks[0]["topic"], "/t");
  EXPECT_EQ(callbacks[0]["count"], 3);
  EXPECT_EQ(callbacks[1]["period"], 5'000'000);
  EXPECT_EQ(callbacks[1]["execution_time"],
            json::parse(R"({"source": "wall_time", "min": 10000, "mean": 20000, "p50": 20000,
                            "p99": 30000, "max": 30000})"));
  EXPECT_EQ(document["executors"],
            json::parse(R"([{"id": "proc", "kind": "single_threaded", "process": "proc",
                             "pid": 17, "threads": [17], "scheduling": [null],
                             "callbacks": ["/ns/n:/t", "/ns/n:timer-5ms"]}])"));
  EXPECT_EQ(document["warnings"], json::array());
}

/// rclcpp publishes for other processes what went through its buffers, and a subscription that has
/// a buffer throws away what it takes of that.
TEST(Summary, WhatASubscriptionThrowsAwayIsNotReceived) {
  Scenario scenario;
  Program program = scenario.program(1, "h", "p");
  Program outside = scenario.program(2, "h", "q");
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto buffered = scenario.subscription(program, node, "/t");
  const auto plain = scenario.subscription(program, node, "/t");
  const auto far = scenario.subscription(outside, scenario.node(outside, "m"), "/t");
  scenario.add(program, EventType::rclcpp_construct_ring_buffer, {0xb0, 4});
  scenario.add(program, EventType::rclcpp_buffer_to_ipb, {0xb0, 0xb1});
  scenario.add(program, EventType::rclcpp_ipb_to_subscription, {0xb1, 0x7000});
  scenario.add(program, EventType::rclcpp_subscription_init, {buffered.handle, 0x7000});
  for (const std::int64_t stamp : {1, 2}) {
    scenario.add(program, EventType::rclcpp_intra_publish, {publisher.handle, 0x55});
    scenario.add(program, EventType::rclcpp_ring_buffer_enqueue, {0xb0, 0, 1, 0});
    scenario.publish(program, publisher, stamp);
    scenario.take(program, buffered, stamp);
    scenario.add(program, EventType::rclcpp_ring_buffer_dequeue, {0xb0, 0, 1});
    scenario.handle(program, plain, stamp, 10);
    scenario.handle(outside, far, stamp, 10);
  }
  const json document = summarise(scenario);
  EXPECT_EQ(document["topics"][0]["publications"], 2);
  EXPECT_EQ(document["topics"][0]["takes"], 6);
  for (const json& subscription : document["subscriptions"]) EXPECT_EQ(subscription["count"], 2);
}

/// A second subscription of the topic with another quality of service, say.
TEST(Summary, ASubscriptionThatReceivesNothingOfWhatIsSentIsTold) {
  const auto warnings = [](int messages, std::int64_t apart, int subscriptions = 1) {
    Scenario scenario;
    Program program = scenario.program(1, "h", "p");
    const auto node = scenario.node(program, "n");
    const auto publisher = scenario.publisher(program, node, "/t");
    const auto good = scenario.subscription(program, node, "/t");
    scenario.publish(program, publisher, 1);
    const auto bad = scenario.node(program, "bad");
    for (int i = 0; i < subscriptions; ++i) scenario.subscription(program, bad, "/t");
    for (int stamp = 2; stamp < messages + 2; ++stamp) {
      scenario.now += apart;
      scenario.publish(program, publisher, stamp);
      scenario.handle(program, good, stamp, 10);
    }
    return summarise(scenario)["warnings"].get<std::vector<std::string>>();
  };
  EXPECT_THAT(warnings(100, 50'000),
              testing::ElementsAre(testing::StartsWith("/bad: /t: none of the 100 messages came")));
  EXPECT_THAT(warnings(100, 50'000, 5),
              testing::ElementsAre(
                  testing::AllOf(testing::StartsWith("/bad: /t: none of the 100 messages came"),
                                 testing::HasSubstr("while its 5 subscriptions were there"))));
  EXPECT_THAT(warnings(100, 1'000), testing::IsEmpty()) << "it may not be matched yet";
  EXPECT_THAT(warnings(5, 500'000), testing::IsEmpty()) << "they may have been lost";
}

TEST(Summary, MessagesThatAreTakenWithoutACallbackAreTold) {
  Scenario scenario;
  Program program = scenario.program(1, "h", "p");
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  scenario.run(program, scenario.timer(program, node, std::chrono::milliseconds(5)), 10);
  for (int stamp = 1; stamp <= 20; ++stamp) {
    scenario.publish(program, publisher, stamp);
    scenario.take(program, scenario.subscription(program, node, "/t"), stamp);
  }
  EXPECT_THAT(summarise(scenario)["warnings"].get<std::vector<std::string>>(),
              testing::Contains(testing::HasSubstr("/n: /t: 20 messages were taken and no")));
}

TEST(Summary, ThreadsThatShareCallbacksAreOneExecutor) {
  Scenario scenario;
  Program main = scenario.program(1, "h", "p");
  Program second = scenario.worker(main, 2);
  Program other = scenario.worker(main, 3);
  const auto node = scenario.node(main, "n");
  const auto shared = scenario.timer(main, node, std::chrono::milliseconds(5));
  const auto alone = scenario.timer(main, node, std::chrono::milliseconds(6));
  scenario.run(main, shared, 1);
  scenario.run(second, shared, 1);
  scenario.run(other, alone, 1);
  const json executors = summarise(scenario)["executors"];
  ASSERT_EQ(executors.size(), 2u);
  EXPECT_EQ(executors[0]["kind"], "multi_threaded");
  EXPECT_EQ(executors[0]["threads"], json::parse("[1, 2]"));
  EXPECT_EQ(executors[1]["id"], "p#2");
  EXPECT_EQ(executors[1]["kind"], "single_threaded");
}

TEST(Summary, ThreadsThatAnnouncedTheSameExecutorAreOne) {
  Scenario scenario;
  Program main = scenario.program(1);
  Program second = scenario.worker(main, 2);
  for (const Program* thread : {&main, &second}) {
    scenario.add(*thread, EventType::executor_init, {2, 0, 0, 0, 0, UINT64_MAX},
                 {"e7", "multi_threaded", "polled", "other"});
  }
  const auto node = scenario.node(main, "n");
  const auto a = scenario.timer(main, node, std::chrono::milliseconds(5));
  const auto b = scenario.timer(main, node, std::chrono::milliseconds(6));
  scenario.run(main, a, 1);
  scenario.run(second, b, 1);
  const json executors = summarise(scenario)["executors"];
  ASSERT_EQ(executors.size(), 1u);
  EXPECT_EQ(executors[0]["id"], "e7");
}

TEST(Summary, AnExecutorThatAnnouncesNoNameHasThatOfItsProgram) {
  Scenario scenario;
  Program program = scenario.program(1, "robot", "planner");
  scenario.add(program, tracepoints::ExecutorInit{.executor = "", .kind = "events"});
  const auto node = scenario.node(program, "n");
  scenario.run(program, scenario.timer(program, node, std::chrono::milliseconds(5)), 1);
  EXPECT_EQ(summarise(scenario)["executors"][0]["id"], "planner");
}

TEST(Summary, SaysWhatIsMissing) {
  Scenario scenario;
  Program program = scenario.program(1);
  scenario.run(program, 0xcafe, 1);
  scenario.end(program, 0xcafe);
  scenario.lose().discarded_events = 12;
  scenario.lose().faults.push_back("stream ros2_0: ends in the middle of a packet");
  const json document = summarise(scenario);
  EXPECT_EQ(document["discarded"], 12);
  EXPECT_EQ(document["callbacks"][0]["name"], "unknown(0xcafe)");
  EXPECT_EQ(
      document["warnings"],
      (json{"stream ros2_0: ends in the middle of a packet",
            "12 events and 0 packets were lost while recording: chains may be cut and counts too "
            "low; record with larger buffers (--buffer) or fewer events (--exclude)",
            "1 events speak of objects whose creation is not in the trace, shown as "
            "unknown(handle): start 'takt record' before the programs, with all "
            "ros2:* events",
            "0 callback starts and 1 callback ends have no partner"}));
}

TEST(Summary, NamesThatAreNoTextStayDocuments) {
  Scenario scenario;
  Program program = scenario.program(1, "h\xff", "\xc3\x28");
  scenario.node(program, "n\x80", "/\xf0");
  EXPECT_EQ(summarise(scenario)["nodes"][0]["name"], "/\uFFFD/n\uFFFD");
}

}  // namespace
}  // namespace takt::execution
