#include "takt/synthesis/synthesizer.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "chains.hpp"
#include "synthesized.hpp"

namespace takt::synthesis {
namespace {

using model::Model;
using nlohmann::json;
using test::Program;
using test::Scenario;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// One executor for each callback group: each on a thread of its own.
TEST(Synthesizer, ExecutorsOfSingleCallbackGroupsAreTold) {
  Scenario scenario;
  Program program = scenario.program(1);
  const Program worker = scenario.worker(program, 2);
  const std::uint64_t arm = scenario.node(program, "arm");
  const std::uint64_t hand = scenario.node(program, "hand");
  const std::uint64_t fast = scenario.timer(program, arm, std::chrono::milliseconds(10));
  const std::uint64_t slow = scenario.timer(program, arm, std::chrono::milliseconds(90));
  const std::uint64_t other = scenario.timer(program, hand, std::chrono::milliseconds(30));
  for (int i = 0; i < 4; ++i) {
    scenario.run(program, fast, 10);
    scenario.run(worker, slow, 10);
    scenario.run(worker, other, 10);
  }
  const json told = json::parse(model_of(scenario).provenance)["callback_isolated"];
  ASSERT_EQ(told.size(), 1);
  EXPECT_EQ(told[0]["node"], "/arm");
  EXPECT_EQ(told[0]["executors"].size(), 2);
}

/// Messages that go round would be a cycle without end: the least observed edge is left out.
TEST(Synthesizer, CyclesAreBrokenWithAWarning) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto other = scenario.node(program, "m");
  const auto a = scenario.publisher(program, node, "/a");
  const auto b = scenario.publisher(program, node, "/b");
  const auto back = scenario.publisher(program, other, "/a");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(10));
  const auto on_a = scenario.subscription(program, node, "/a");
  const auto on_b = scenario.subscription(program, other, "/b");
  for (std::int64_t i = 0; i < 5; ++i) {
    scenario.now += 1'000;
    scenario.run(program, timer, 1, std::pair(a, 10 * i + 1));
    scenario.handle(program, on_a, 10 * i + 1, 1, std::pair(b, 10 * i + 2));
    const bool returns = i == 2;
    scenario.handle(program, on_b, 10 * i + 2, 1,
                    returns ? std::optional(std::pair(back, 10 * i + 3)) : std::nullopt);
    if (returns) {
      scenario.handle(program, on_a, 10 * i + 3, 1);
    }
  }
  const Model model = model_of(scenario);
  EXPECT_THAT(edges_of(model), UnorderedElementsAre("/n:timer-10ms -> /n:/a", "/n:/a -> /m:/b"));
  EXPECT_THAT(json::parse(model.provenance)["warnings"].dump(),
              HasSubstr("would be a cycle without end"));
  // The activations that the edge explained are now the receiver's own.
  EXPECT_TRUE(model.callbacks[1].activation);
}

/// performance-engineering fact 9: two publishers of a topic activate its subscriber, each of them;
/// a topic with two subscribers is two edges. Fact 5: what is cut off at the ends adds nothing.
TEST(Synthesizer, TopicsWithSeveralEndsAreSeveralEdges) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto first = scenario.publisher(program, node, "/or");
  const auto second = scenario.publisher(program, node, "/or");
  const auto timer_1 = scenario.timer(program, node, std::chrono::milliseconds(10));
  const auto timer_2 = scenario.timer(program, node, std::chrono::milliseconds(20));
  const auto sink_1 = scenario.subscription(program, scenario.node(program, "a"), "/or");
  const auto sink_2 = scenario.subscription(program, scenario.node(program, "b"), "/or");
  scenario.end(program, timer_1);
  for (std::int64_t i = 0; i < 4; ++i) {
    scenario.now += 5'000;
    scenario.run(program, i % 2 == 0 ? timer_1 : timer_2, 1,
                 std::pair(i % 2 == 0 ? first : second, i + 1));
    scenario.handle(program, sink_1, i + 1, 1);
    scenario.handle(program, sink_2, i + 1, 1);
  }
  scenario.start(program, timer_1);
  const Model model = model_of(scenario);
  EXPECT_THAT(edges_of(model),
              UnorderedElementsAre("/n:timer-10ms -> /a:/or", "/n:timer-10ms -> /b:/or",
                                   "/n:timer-20ms -> /a:/or", "/n:timer-20ms -> /b:/or"));
  EXPECT_THAT(model.joins, SizeIs(0));
  EXPECT_EQ(json::parse(model.provenance)["observed"]["/n:timer-10ms"]["count"], 2);
}

TEST(Synthesizer, AnExecutorThatTellsOfNoWaitsIsOneOfEvents) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(10));
  for (int i = 0; i < 200; ++i) {
    scenario.now += 10'000;
    scenario.run(program, timer, 100);
  }
  const Model model = model_of(scenario);
  EXPECT_EQ(model.executors[0].kind, model::ExecutorKind::events);
  EXPECT_THAT(json::parse(model.provenance)["warnings"][0].get<std::string>(),
              HasSubstr("told of no waits"));
}

TEST(Synthesizer, NothingThatRanIsAnError) {
  Scenario scenario;
  Program program = scenario.program(1);
  scenario.node(program, "n");
  const auto model = synthesise(scenario);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().message,
            "scenario: no callback ran in it; record rclcpp or Takt programs with the ros2 events, "
            "longer than their start-up, and start rclpy programs with 'takt record -- COMMAND'");
}

TEST(Synthesizer, UnknownCallbacksKeepTheirTimeButGetNoName) {
  Scenario scenario;
  Program program = scenario.program(1);
  scenario.run(program, 0xcafe, 10);
  scenario.now = 5'000;
  scenario.run(program, 0xcafe, 10);
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(1));
  EXPECT_EQ(model.callbacks[0].id, "unknown(0xcafe)");
  EXPECT_EQ(model.callbacks[0].kind, model::CallbackKind::waitable);
  EXPECT_THAT(json::parse(model.provenance)["warnings"][0].get<std::string>(),
              HasSubstr("before the programs"));
}

TEST(CallbackGroups, DifferWhereCallbacksOfANodeRanAtTheSameTime) {
  Scenario scenario;
  Program one = scenario.program(1);
  const auto two = scenario.worker(one, 2);
  const auto node = scenario.node(one, "n");
  std::vector<std::uint64_t> timers;
  for (int i = 0; i < 4; ++i) {
    timers.push_back(scenario.timer(one, node, std::chrono::milliseconds(10 + i)));
  }
  const auto overlap = [&](std::uint64_t first, std::uint64_t second) {
    scenario.now += 100;
    scenario.start(one, first);
    scenario.now += 10;
    scenario.start(two, second);
    scenario.now += 10;
    scenario.end(one, first);
    scenario.end(two, second);
  };
  overlap(timers[0], timers[1]);
  overlap(timers[3], timers[3]);
  scenario.now += 100;
  scenario.run(one, timers[2], 10);
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(4));
  EXPECT_EQ(model.callbacks[0].callback_group, std::nullopt);
  EXPECT_EQ(model.callbacks[1].callback_group, "/n 2");
  EXPECT_EQ(model.callbacks[3].callback_group, "reentrant");
}

TEST(CallbackGroups, DifferForAllThatRanBesideOneLongRun) {
  Scenario scenario;
  Program one = scenario.program(1);
  const auto two = scenario.worker(one, 2);
  const auto node = scenario.node(one, "n");
  const auto longest = scenario.timer(one, node, std::chrono::milliseconds(10));
  const auto first = scenario.timer(one, node, std::chrono::milliseconds(11));
  const auto second = scenario.timer(one, node, std::chrono::milliseconds(12));
  scenario.run(one, first, 10);  // both threads are of one executor
  scenario.start(one, longest);
  scenario.run(two, first, 10);
  scenario.run(two, second, 10);
  scenario.end(one, longest);
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(3));
  EXPECT_EQ(model.callbacks[0].callback_group, std::nullopt);
  EXPECT_EQ(model.callbacks[1].callback_group, "/n 2");
  EXPECT_EQ(model.callbacks[2].callback_group, "/n 2");
}

/// A timer waits for a response, which comes on the other thread. Another timer never ran beside
/// either, and the long runs are those that it was kept from running beside.
TEST(CallbackGroups, OneThatNeverOverlappedIsInTheGroupThatRanLongest) {
  Scenario scenario;
  Program one = scenario.program(1);
  const auto two = scenario.worker(one, 2);
  const auto node = scenario.node(one, "n");
  const auto brief = scenario.timer(one, node, std::chrono::milliseconds(10));
  const auto waiting = scenario.timer(one, node, std::chrono::milliseconds(11));
  const auto other = scenario.timer(one, node, std::chrono::milliseconds(12));
  scenario.run(two, other, 10);
  for (int i = 0; i < 3; ++i) {
    scenario.start(one, waiting);
    scenario.now += 1000;
    scenario.run(two, brief, 10);
    scenario.end(one, waiting);
    scenario.run(one, other, 10);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(3));
  EXPECT_NE(model.callbacks[0].callback_group, model.callbacks[1].callback_group);
  EXPECT_EQ(model.callbacks[2].callback_group, model.callbacks[1].callback_group);
}

/// The overhead of one instance, in µs, of an executor with so many threads that run the callback
/// in turn: each speaks up after 5 µs, but once after 24 ms, and then takes 10 µs to choose.
std::int64_t overhead_of(int threads) {
  Scenario scenario;
  Program first = scenario.program(1);
  const auto node = scenario.node(first, "n");
  const auto timer = scenario.timer(first, node, std::chrono::milliseconds(10));
  const std::vector<Program> all{first, scenario.worker(first, 2)};
  for (int i = 0; i < 12; ++i) {
    const Program& thread = all.at(static_cast<std::size_t>(i % threads));
    scenario.wait(thread);
    scenario.look(thread);
    scenario.run(thread, timer, 100);
    scenario.now += i == 6 ? 24'000 : 5;
    scenario.look(thread);
    scenario.now += 10;
    scenario.run(thread, timer, 100);
  }
  return model_of(scenario).executors.at(0).overhead.at(0) / std::chrono::microseconds(1);
}

TEST(Overhead, HasNoWaitsOfAThreadForItsTurnToChoose) {
  EXPECT_EQ(overhead_of(1), 24'010);
  EXPECT_EQ(overhead_of(2), 15);
}

TEST(UnnamedWork, IsThatAfterStartUp) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(100));
  const auto work = [&](std::int64_t time) {
    scenario.look(program);
    scenario.now += time;
    scenario.look(program);
    scenario.run(program, timer, 10);
    scenario.add(program, tracepoints::RclcppExecutorWaitForWork{.timeout = -1});
  };
  work(500'000);
  scenario.now = 2'000'000;
  work(700);
  work(600);
  const json work_found = json::parse(model_of(scenario).provenance)["unnamed_work"];
  ASSERT_THAT(work_found, SizeIs(1));
  EXPECT_EQ(work_found[0]["count"], 2);
  EXPECT_EQ(work_found[0]["longest"], 700'000);
}

TEST(Chains, OfAPipelineThatIsTooLongAreCutBeforeTheStackIs) {
  Model model;
  model.callbacks.resize(200'000);
  for (std::size_t i = 1; i < model.callbacks.size(); ++i) {
    model::Edge edge;
    edge.from = model::CallbackIndex(i - 1);
    edge.to = model::CallbackIndex(i);
    model.edges.push_back(edge);
  }
  model.callbacks.front().activation = model::PeriodicActivation{};
  EXPECT_FALSE(add_maximal_chains(model));
  EXPECT_THAT(model.chains, SizeIs(0));
}

TEST(ChainNames, TellChainsApartByNodesOnTheWay) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto source = scenario.node(program, "source");
  const auto left = scenario.node(program, "left");
  const auto right = scenario.node(program, "right");
  const auto sink = scenario.node(program, "sink");
  const auto start = scenario.publisher(program, source, "/start");
  const auto by_left = scenario.publisher(program, left, "/l");
  const auto by_right = scenario.publisher(program, right, "/r");
  const auto timer = scenario.timer(program, source, std::chrono::milliseconds(10));
  const auto on_left = scenario.subscription(program, left, "/start");
  const auto on_right = scenario.subscription(program, right, "/start");
  const auto on_l = scenario.subscription(program, sink, "/l");
  const auto on_r = scenario.subscription(program, sink, "/r");
  for (std::int64_t i = 0; i < 3; ++i) {
    scenario.now += 1'000;
    scenario.run(program, timer, 1, std::pair(start, 3 * i + 1));
    scenario.handle(program, on_left, 3 * i + 1, 1, std::pair(by_left, 3 * i + 2));
    scenario.handle(program, on_right, 3 * i + 1, 1, std::pair(by_right, 3 * i + 3));
    scenario.handle(program, on_l, 3 * i + 2, 100);
    scenario.handle(program, on_r, 3 * i + 3, 100);
  }
  std::vector<std::string> ids;
  for (const model::Chain& chain : model_of(scenario).chains) {
    ids.push_back(chain.id);
  }
  EXPECT_THAT(ids, ElementsAre("/source->/sink via /left", "/source->/sink via /right"));
}

/// Two timers publish on the same topic; the relay passes on only one's messages.
TEST(TriggerSets, HoldThePredecessorsWhoseMessagesWerePassedOn) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto one = scenario.node(program, "one");
  const auto two = scenario.node(program, "two");
  const auto relay = scenario.node(program, "relay");
  const auto end = scenario.node(program, "end");
  const auto from_one = scenario.publisher(program, one, "/in");
  const auto from_two = scenario.publisher(program, two, "/in");
  const auto out = scenario.publisher(program, relay, "/out");
  const auto again = scenario.publisher(program, relay, "/in");
  const auto timer_one = scenario.timer(program, one, std::chrono::milliseconds(10));
  const auto timer_two = scenario.timer(program, two, std::chrono::milliseconds(10));
  const auto on_in = scenario.subscription(program, relay, "/in");
  const auto on_out = scenario.subscription(program, end, "/out");
  for (std::int64_t i = 0; i < 10; ++i) {
    scenario.now += 1'000;
    scenario.run(program, timer_one, 1, std::pair(from_one, 10 * i + 1));
    scenario.handle(program, on_in, 10 * i + 1, 1, std::pair(out, 10 * i + 2));
    scenario.handle(program, on_out, 10 * i + 2, 1);
    scenario.run(program, timer_two, 1, std::pair(from_two, 10 * i + 3));
    scenario.handle(program, on_in, 10 * i + 3, 1, std::pair(again, 10 * i + 4));
    scenario.handle(program, on_in, 10 * i + 4, 1);  // its own message triggers nothing
  }
  const Model model = model_of(scenario);
  for (const model::Edge& edge : model.edges) {
    const std::string name = model[edge.from].id + " -> " + model[edge.to].id;
    if (name == "/relay:/in -> /end:/out") {
      EXPECT_THAT(ids_of(model, edge.triggered_by.value()), ElementsAre("/one:timer-10ms"));
    } else if (name == "/relay:/in -> /relay:/in") {
      EXPECT_THAT(ids_of(model, edge.triggered_by.value()), ElementsAre("/two:timer-10ms"));
    } else {
      EXPECT_EQ(edge.triggered_by, std::nullopt) << name;
    }
  }
  EXPECT_THAT(model.edges, SizeIs(4));
  // The chain from /two does not go on to /end.
  ASSERT_THAT(model.chains, SizeIs(2));
  EXPECT_EQ(model.chains[0].id, "/one->/end");
  EXPECT_EQ(model.chains[1].id, "/two->/relay");
}

TEST(Synthesizer, SeveralMessagesOfAnInstanceAreSeveralEdges) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(10));
  const auto on_t = scenario.subscription(program, node, "/t");
  scenario.start(program, timer);
  scenario.publish(program, publisher, 1);
  scenario.publish(program, publisher, 2);
  scenario.end(program, timer);
  scenario.handle(program, on_t, 1, 1);
  scenario.handle(program, on_t, 2, 1);
  EXPECT_THAT(model_of(scenario).edges, SizeIs(2));
}

}  // namespace
}  // namespace takt::synthesis
