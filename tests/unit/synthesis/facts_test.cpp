#include <gmock/gmock.h>

#include <random>

#include "synthesized.hpp"
#include "takt/curves/execution_time_curve.hpp"
#include "takt/execution/curves.hpp"

/// Facts on extraction: F-n of ros-llama.md, section 7, and P-n of performance-engineering.md,
/// section 8. docs/model-synthesis.md says where the others are tested.
namespace takt::synthesis {
namespace {

using test::Program;
using test::Scenario;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class ExtractionFact : public testing::Test {
 protected:
  Scenario scenario;

  /// A program with a node of the same name, on a thread of its own.
  struct Node {
    Program program;
    std::uint64_t handle;
  };
  Node node(const std::string& name) {
    Program program = scenario.program(++processes_, "h", name);
    const auto handle = scenario.node(program, name);
    return {program, handle};
  }
  test::Publisher publisher(Node& at, const std::string& topic) {
    return scenario.publisher(at.program, at.handle, topic);
  }
  test::Subscription subscription(Node& at, const std::string& topic) {
    return scenario.subscription(at.program, at.handle, topic);
  }
  std::uint64_t timer(Node& at, int milliseconds) {
    return scenario.timer(at.program, at.handle, std::chrono::milliseconds(milliseconds));
  }

  /// A node of which a timer of 10 ms publishes on a topic.
  struct Source {
    Node node;
    std::uint64_t tick;
    test::Publisher out;
  };
  Source source(const std::string& name, const std::string& topic) {
    Node made = node(name);
    const auto tick = timer(made, 10);
    const auto out = publisher(made, topic);
    return {std::move(made), tick, out};
  }
  void publish(Source& source, std::int64_t stamp) {
    scenario.run(source.node.program, source.tick, 10, std::pair(source.out, stamp));
  }

  model::Model model() { return model_of(scenario); }
  static std::vector<std::string> callbacks(const model::Model& model) {
    std::vector<std::string> found;
    for (const auto& callback : model.callbacks) found.push_back(callback.id);
    return found;
  }

 private:
  std::int64_t processes_ = 0;
};

/// A response that is not for this client: its callback does not run, and nothing is left of it.
TEST_F(ExtractionFact, P04_AResponseToAnotherClientAddsNothing) {
  Node asking = node("asking");
  const auto tick = timer(asking, 10);
  const auto client = scenario.client(asking.program, asking.handle, "/s");
  scenario.look(asking.program);
  scenario.add(asking.program,
               tracepoints::RmwTakeResponse{
                   .rmw_client_handle = client.rmw_handle, .sequence_number = 1, .taken = false});
  scenario.now += 500;
  scenario.look(asking.program);
  scenario.run(asking.program, tick, 100);
  EXPECT_THAT(callbacks(model()), ElementsAre("/asking:timer-10ms"));
}

TEST_F(ExtractionFact, P05_HalfInstancesAddNothing) {
  Node robot = node("robot");
  const auto first = timer(robot, 10);
  const auto second = timer(robot, 20);
  const auto third = timer(robot, 30);
  scenario.end(robot.program, first);
  scenario.run(robot.program, second, 100);
  scenario.start(robot.program, third);
  scenario.now += 100;
  EXPECT_THAT(callbacks(model()), ElementsAre("/robot:timer-20ms"));
}

/// Three clients hear the reply; it is for the first.
TEST_F(ExtractionFact, P07_AReplyIsOneEdgeToTheClientThatAsked) {
  Node server = node("server");
  const auto service = scenario.service(server.program, server.handle, "/s");
  std::vector<Node> nodes{node("a"), node("b"), node("c")};
  std::vector<test::Client> clients;
  for (Node& asking : nodes) {
    clients.push_back(scenario.client(asking.program, asking.handle, "/s"));
  }
  const auto tick = timer(nodes[0], 10);
  for (std::int64_t i = 1; i <= 5; ++i) {
    scenario.now += 10'000;
    scenario.start(nodes[0].program, tick);
    scenario.send_request(nodes[0].program, clients[0], i);
    scenario.end(nodes[0].program, tick);
    scenario.serve(server.program, service, clients[0], i, 100);
    for (const std::size_t other : {1u, 2u}) {
      scenario.look(nodes[other].program);
      scenario.add(nodes[other].program,
                   tracepoints::RmwTakeResponse{.rmw_client_handle = clients[other].rmw_handle,
                                                .sequence_number = i,
                                                .taken = false});
      scenario.look(nodes[other].program);
    }
    scenario.respond(nodes[0].program, clients[0], i, 30);
  }
  EXPECT_THAT(edges_of(model()),
              UnorderedElementsAre("/a:timer-10ms -> /server:/s", "/server:/s -> /a:/s:response"));
}

/// Either publisher activates the subscriber: it has two edges, no join, and no activation of its
/// own. A topic with two subscribers is two edges.
TEST_F(ExtractionFact, P09_SeveralPublishersAreAnOrAndSeveralSubscribersTwoEdges) {
  Source left = source("left", "/both");
  Source right = source("right", "/both");
  Node one = node("one");
  Node two = node("two");
  const auto on_one = subscription(one, "/both");
  const auto on_two = subscription(two, "/both");
  for (std::int64_t i = 1; i <= 10; ++i) {
    scenario.now += 10'000;
    publish(i % 2 == 0 ? left : right, i);
    scenario.handle(one.program, on_one, i, 10);
    scenario.handle(two.program, on_two, i, 10);
  }
  const auto made = model();
  EXPECT_THAT(
      edges_of(made),
      UnorderedElementsAre("/left:timer-10ms -> /one:/both", "/left:timer-10ms -> /two:/both",
                           "/right:timer-10ms -> /one:/both", "/right:timer-10ms -> /two:/both"));
  EXPECT_THAT(made.joins, IsEmpty());
  for (const auto& callback : made.callbacks) {
    EXPECT_EQ(callback.activation.has_value(), callback.kind == model::CallbackKind::timer);
  }
}

/// Two messages wait before the reader runs, and each is linked to its own sender. Links to the
/// newest or to the oldest message of the topic would give wrong edges and delays.
TEST_F(ExtractionFact, P10_MessagesThatWaitedAreToldApart) {
  Source left = source("left", "/t");
  Source right = source("right", "/t");
  Node reader = node("reader");
  const auto passed_on = publisher(reader, "/left_only");
  const auto on_both = subscription(reader, "/t");
  Node last = node("last");
  const auto on_passed = subscription(last, "/left_only");
  for (std::int64_t i = 1; i <= 40; i += 2) {
    scenario.now += 10'000;
    publish(left, i);
    publish(right, i + 1);
    // Both wait now. Only what came from the left one is passed on; the order of taking varies.
    const std::int64_t first = i % 4 == 1 ? i : i + 1;
    for (const std::int64_t stamp : {first, 2 * i + 1 - first}) {
      const bool is_left = stamp == i;
      scenario.handle(reader.program, on_both, stamp, 10,
                      is_left ? std::optional(std::pair(passed_on, stamp)) : std::nullopt);
      if (is_left) scenario.handle(last.program, on_passed, stamp, 10);
    }
  }
  const auto made = model();
  const auto passed = std::ranges::find(made.edges, "/left_only", &model::Edge::topic);
  ASSERT_NE(passed, made.edges.end());
  ASSERT_TRUE(passed->triggered_by);
  ASSERT_THAT(*passed->triggered_by, SizeIs(1));
  EXPECT_EQ(made[passed->triggered_by->front()].id, "/left:timer-10ms");
}

/// A curve bounds every window of its instances, in the extrapolated part too. Costs only grow,
/// distances only shrink.
TEST_F(ExtractionFact, F09_CurvesBoundEveryWindowAndOnlyGrow) {
  std::minstd_rand random(9);
  for (int round = 0; round < 20; ++round) {
    execution::CostCurve curve;
    execution::DistanceCurve distances;
    std::vector<Duration> costs;
    std::vector<Duration> before;
    std::vector<Duration> apart;
    Instant now{};
    for (int i = 0; i < 150; ++i) {
      costs.emplace_back(1 + random() % 1000);
      curve.add(costs.back());
      now += Duration(random() % 500);
      distances.add(now);
      for (std::size_t n = 0; n < before.size(); ++n) ASSERT_GE(curve.values()[n], before[n]);
      for (std::size_t n = 0; n < apart.size(); ++n) ASSERT_LE(distances.values()[n], apart[n]);
      before = curve.values();
      apart = distances.values();
    }
    const auto bound = curves::ExecutionTimeCurve(curve.values());
    for (std::size_t begin = 0; begin < costs.size(); ++begin) {
      Duration sum{};
      for (std::size_t n = 1; begin + n <= costs.size(); ++n) {
        sum += costs[begin + n - 1];
        ASSERT_GE(bound(static_cast<std::int64_t>(n)), sum);
      }
    }
  }
}

/// Start-up, the first event 5 min later, the second 1 ms after it.
TEST_F(ExtractionFact, F11_ARareEventIsAsRareAsItWasWatched) {
  const Duration unit = std::chrono::milliseconds(1);
  execution::DistanceCurve curve;
  curve.add(Instant(300'000 * unit));
  curve.add(Instant(300'001 * unit));
  EXPECT_THAT(curve.bounded_by(300'001 * ms), ElementsAre(Duration{0}, ms, 300'001 * ms));
}

/// The example of ros-llama 5.3.3.1: the subscription is registered first, the timer goes first.
TEST_F(ExtractionFact, F13_TheExampleHasItsCallbacksAndItsEdge) {
  Node first = node("node1");
  const auto on_topic = subscription(first, "/topic");
  const auto out = publisher(first, "/other-topic");
  const auto second = scenario.node(first.program, "node2");
  const auto tick = scenario.timer(first.program, second, std::chrono::milliseconds(10));
  Node reader = node("reader");
  const auto on_other = subscription(reader, "/other-topic");
  for (std::int64_t i = 1; i <= 5; ++i) {
    scenario.now += 10'000;
    scenario.run(first.program, tick, 10);
    scenario.handle(first.program, on_topic, i, 10, std::pair(out, i));
    scenario.handle(reader.program, on_other, i, 10);
  }
  const auto made = model();
  EXPECT_THAT(edges_of(made), ElementsAre("/node1:/topic -> /reader:/other-topic"));
  // An executor that polls goes by kind, then by registration (F-4).
  EXPECT_EQ(made.callbacks[0].kind, model::CallbackKind::subscription);
  EXPECT_EQ(made.callbacks[1].kind, model::CallbackKind::timer);
  EXPECT_EQ(made.callbacks[0].executor, made.callbacks[1].executor);
  EXPECT_LT(made.callbacks[0].registration, made.callbacks[1].registration);
}

/// As amcl does with /tf: its own messages come back, and it does nothing with them.
TEST_F(ExtractionFact, F16_WhatComesBackTriggersNothing) {
  Node source = node("source");
  Node amcl = node("amcl");
  const auto tick = timer(source, 10);
  const auto odometry = publisher(source, "/tf");
  const auto own = publisher(amcl, "/tf");
  const auto on_tf = subscription(amcl, "/tf");
  for (std::int64_t i = 1; i <= 40; i += 2) {
    scenario.now += 10'000;
    scenario.run(source.program, tick, 10, std::pair(odometry, i));
    scenario.handle(amcl.program, on_tf, i, 100, std::pair(own, i + 1));
    scenario.handle(amcl.program, on_tf, i + 1, 5);
  }
  const auto made = model();  // has no endless cycle, or it could not be read again
  ASSERT_THAT(edges_of(made),
              UnorderedElementsAre("/source:timer-10ms -> /amcl:/tf", "/amcl:/tf -> /amcl:/tf"));
  for (const auto& edge : made.edges) {
    if (edge.from != edge.to) continue;
    ASSERT_TRUE(edge.triggered_by);
    ASSERT_THAT(*edge.triggered_by, SizeIs(1));
    EXPECT_EQ(made[edge.triggered_by->front()].id, "/source:timer-10ms");
  }
}

/// An instance of a service for one caller may trigger the subscribers of the service's messages,
/// and of the clients only the caller's.
TEST_F(ExtractionFact, F17_ARequestTriggersAllButTheOtherClients) {
  Node server = node("server");
  const auto service = scenario.service(server.program, server.handle, "/s");
  const auto log = publisher(server, "/log");
  Node reader = node("reader");
  const auto on_log = subscription(reader, "/log");
  std::vector<Node> nodes{node("a"), node("b")};
  std::vector<test::Client> clients;
  std::vector<std::uint64_t> ticks;
  for (Node& asking : nodes) {
    clients.push_back(scenario.client(asking.program, asking.handle, "/s"));
    ticks.push_back(timer(asking, 10));
  }
  for (std::int64_t i = 1; i <= 20; ++i) {
    const auto who = static_cast<std::size_t>(i % 2);
    scenario.now += 10'000;
    scenario.start(nodes[who].program, ticks[who]);
    scenario.send_request(nodes[who].program, clients[who], i);
    scenario.end(nodes[who].program, ticks[who]);
    scenario.take_request(server.program, service, clients[who], i);
    scenario.run(server.program, service.callback, 50, std::pair(log, i));
    scenario.send_response(server.program, service, clients[who], i);
    scenario.handle(reader.program, on_log, i, 10);
    scenario.respond(nodes[who].program, clients[who], i, 30);
  }
  const auto made = model();
  ASSERT_THAT(made.edges, SizeIs(5));
  for (const auto& edge : made.edges) {
    EXPECT_FALSE(edge.topic == "/log" && edge.triggered_by);
    if (made[edge.to].kind != model::CallbackKind::client) continue;
    ASSERT_TRUE(edge.triggered_by);
    ASSERT_THAT(*edge.triggered_by, SizeIs(1));
    EXPECT_EQ(made[edge.triggered_by->front()].node, made[edge.to].node);
  }
}

}  // namespace
}  // namespace takt::synthesis
