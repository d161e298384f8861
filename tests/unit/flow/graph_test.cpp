#include "takt/flow/graph.hpp"

#include <gmock/gmock.h>

#include <optional>

#include "flow_scenario.hpp"

namespace takt::flow {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = Segment::Kind;

/// Two sources whose messages a node joins; one of them also goes to a second sink.
class Join : public testing::Test {
 protected:
  Scenario scenario;
  Program program = scenario.program(1);
  std::uint64_t node = scenario.node(program, "all");
  test::Publisher a = scenario.publisher(program, node, "/a");
  test::Publisher b = scenario.publisher(program, node, "/b");
  test::Publisher c = scenario.publisher(program, node, "/c");
  std::uint64_t timer_a = scenario.timer(program, node, std::chrono::milliseconds(10));
  std::uint64_t timer_b = scenario.timer(program, node, std::chrono::milliseconds(20));
  test::Subscription on_a = scenario.subscription(program, node, "/a");
  test::Subscription on_b = scenario.subscription(program, node, "/b");
  test::Subscription on_c = scenario.subscription(program, node, "/c");
  std::uint64_t other_node = scenario.node(program, "other");
  test::Subscription other = scenario.subscription(program, other_node, "/a");
  Store store;
  std::optional<execution::Interpreter> interpreter;
  std::optional<History> history;
  std::optional<Causality> causality;
  std::optional<FlowGraph> graph;

  void SetUp() override {
    scenario.add(program, EventType::message_link_partial_sync, {}, {},
                 {{on_a.handle, on_b.handle}, {c.handle}});
    scenario.run(program, timer_a, 10, std::pair(a, 1));     // run 1, message 1
    scenario.handle(program, on_a, 1, 10);                   // run 2
    scenario.handle(program, other, 1, 10);                  // run 3
    scenario.run(program, timer_b, 10, std::pair(b, 2));     // run 4, message 2
    scenario.handle(program, on_b, 2, 10, std::pair(c, 3));  // run 5, message 3
    scenario.handle(program, on_c, 3, 10);                   // run 6
    interpreter.emplace(scenario.threads());
    interpreter->add(store);
    execution::run(scenario, *interpreter, {});
    history.emplace(store);
    const execution::Objects& objects = interpreter->database().objects();
    causality.emplace(*history, objects,
                      find_links(objects, {}, nullptr, Inference::off, nullptr).links);
    graph.emplace(*history, objects, *causality);
  }
  static InstanceId run(int number) { return static_cast<InstanceId>(number); }
  static PublicationId message(int number) { return static_cast<PublicationId>(number); }
};

TEST_F(Join, Fact28ATransportLeadsFromItsPublicationToItsReceiverOnly) {
  const Segment transport{Kind::transport, run(2), message(1)};
  EXPECT_THAT(graph->predecessors(transport),
              ElementsAre(Segment{Kind::publication, InstanceId::none, message(1)}));
  EXPECT_THAT(graph->successors(transport), ElementsAre(graph->callback(run(2))));
}

TEST_F(Join, LinksLeadFromWhatWasStoredToThePublication) {
  const Segment link{Kind::partial_sync, run(2), message(3)};
  EXPECT_THAT(graph->successors(graph->callback(run(2))), ElementsAre(link));
  EXPECT_THAT(graph->predecessors(link), ElementsAre(graph->callback(run(2))));
  EXPECT_THAT(graph->successors(link),
              ElementsAre(Segment{Kind::publication, InstanceId::none, message(3)}));
  EXPECT_THAT(graph->predecessors(graph->callback(run(1))), IsEmpty());
}

TEST_F(Join, Fact29FromItsRootAFlowIsAnotherThanFromItsLeaf) {
  const Segment root = graph->callback(run(1));
  const Segment leaf = graph->callback(run(6));
  const auto from_root = graph->forwards(root);
  const auto from_leaf = graph->backwards(leaf);
  EXPECT_TRUE(from_root.contains(leaf));
  EXPECT_TRUE(from_root.contains(graph->callback(run(3))));  // the other receiver
  EXPECT_FALSE(from_root.contains(graph->callback(run(4))));
  EXPECT_TRUE(from_leaf.contains(root));
  EXPECT_TRUE(from_leaf.contains(graph->callback(run(4))));  // the other source
  EXPECT_FALSE(from_leaf.contains(graph->callback(run(3))));
  // The segments between root and leaf are the same both ways.
  for (const Segment& segment : from_root) {
    EXPECT_EQ(graph->forwards(segment).contains(leaf), from_leaf.contains(segment));
    EXPECT_TRUE(graph->backwards(segment).contains(root));
  }
}

TEST_F(Join, Fact30TheGraphIsAcyclic) {
  for (const Segment& segment : graph->forwards(graph->callback(run(1)))) {
    for (const Segment& next : graph->successors(segment)) {
      EXPECT_FALSE(graph->forwards(next).contains(segment));
    }
  }
}

}  // namespace
}  // namespace takt::flow
