#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "synthesized.hpp"

/// Recordings in which something went wrong: the model says so, and has no wrong edge.
namespace takt::synthesis {
namespace {

using model::Model;
using nlohmann::json;
using test::Program;
using test::Scenario;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Robustness : public testing::Test {
 protected:
  Scenario scenario;
  Program first = scenario.program(1, "h", "first");
  Program second = scenario.program(2, "h", "second");
  std::uint64_t sensor = scenario.node(first, "sensor");
  std::uint64_t filter = scenario.node(second, "filter");
  test::Publisher raw = scenario.publisher(first, sensor, "/raw");
  std::uint64_t timer = scenario.timer(first, sensor, std::chrono::milliseconds(10));
  test::Subscription on_raw = scenario.subscription(second, filter, "/raw");

  void flow(std::int64_t start, std::int64_t stamp) {
    scenario.now = start;
    scenario.run(first, timer, 100, std::pair(raw, stamp));
    scenario.handle(second, on_raw, stamp, 200);
  }

  Model model() { return model_of(scenario); }
};

json provenance_of(const Model& model) { return json::parse(model.provenance); }

constexpr auto the_edge = "/sensor:timer-10ms -> /filter:/raw";

TEST_F(Robustness, AProcessKilledWithinACallbackLosesThatInstanceAlone) {
  flow(0, 1);
  flow(10'000, 2);
  scenario.now = 20'000;
  scenario.start(first, timer);
  scenario.publish(first, raw, 3);  // and then it was killed
  scenario.handle(second, on_raw, 3, 200);
  const Model found = model();
  EXPECT_THAT(edges_of(found), ElementsAre(the_edge));
  const json provenance = provenance_of(found);
  EXPECT_EQ(provenance["losses"]["open_instances"], 1);
  EXPECT_EQ(provenance["observed"]["/sensor:timer-10ms"]["count"], 2);
  EXPECT_EQ(provenance["observed"]["/filter:/raw"]["count"], 3);
}

TEST_F(Robustness, AThreadThatDiesWithinACallbackLeavesItsNumberToAnother) {
  flow(0, 1);
  scenario.now = 5'000;
  scenario.start(second, on_raw.callback);
  // The kernel gives the number to a thread that runs something else, and then the same again.
  const test::Subscription other = scenario.subscription(second, filter, "/other");
  const test::Publisher source = scenario.publisher(first, sensor, "/other");
  scenario.run(first, timer, 100, std::pair(source, std::int64_t{7}));
  scenario.handle(second, other, 7, 50);
  flow(10'000, 2);
  const Model found = model();
  EXPECT_THAT(edges_of(found),
              UnorderedElementsAre(the_edge, "/sensor:timer-10ms -> /filter:/other"));
  const json provenance = provenance_of(found);
  EXPECT_EQ(provenance["losses"]["orphan_starts"], 1);
  EXPECT_THAT(provenance["warnings"].dump(), HasSubstr("have no partner"));
  // No callback is charged for the time in which the thread was dead.
  EXPECT_EQ(provenance["observed"]["/filter:/raw"]["max"], 200'000);
}

TEST_F(Robustness, LostEventsAreCountedAndMakeNoEdge) {
  flow(0, 1);
  scenario.now = 10'000;
  scenario.handle(second, on_raw, 20, 200);  // its publication was lost
  scenario.now = 20'000;
  scenario.run(first, timer, 100, std::pair(raw, std::int64_t{30}));
  scenario.start(second, on_raw.callback);  // its take was lost
  scenario.end(second, on_raw.callback);
  scenario.lose().discarded_events = 2;
  const Model found = model();
  EXPECT_THAT(edges_of(found), ElementsAre(the_edge));
  const json provenance = provenance_of(found);
  EXPECT_EQ(provenance["losses"]["discarded"], 2);
  EXPECT_EQ(provenance["losses"]["takes_without_publication"], 1);
  EXPECT_THAT(provenance["warnings"].dump(), HasSubstr("2 events and 0 packets were lost"));
}

TEST_F(Robustness, ObjectsWithoutInitialisationAreCountedAndNamedUnknown) {
  flow(0, 1);
  scenario.run(second, 0xdead, 10);
  scenario.add(
      second,
      tracepoints::RmwTake{
          .rmw_subscription_handle = 0xbeef, .message = 1, .source_timestamp = 1, .taken = true});
  const Model found = model();
  EXPECT_THAT(edges_of(found), ElementsAre(the_edge));
  const json provenance = provenance_of(found);
  EXPECT_EQ(provenance["losses"]["unknown_callback_instances"], 1);
  EXPECT_EQ(provenance["losses"]["unknown_takes"], 1);
  EXPECT_THAT(provenance["warnings"].dump(), HasSubstr("whose creation is not in the trace"));
}

TEST_F(Robustness, AClockThatStepsBackLinksNoMessageToAWrongSender) {
  const std::uint64_t other = scenario.timer(first, sensor, std::chrono::milliseconds(50));
  flow(0, 1);
  flow(10'000, 2);
  // The wall clock is set back: another sender's message has a stamp that was there before.
  scenario.now = 20'000;
  scenario.run(first, other, 100, std::pair(raw, std::int64_t{2}));
  scenario.handle(second, on_raw, 2, 200);
  const Model found = model();
  EXPECT_THAT(edges_of(found), ElementsAre(the_edge));
  const json provenance = provenance_of(found);
  EXPECT_EQ(provenance["losses"]["ambiguous_takes"], 1);
  EXPECT_THAT(provenance["warnings"].dump(), HasSubstr("match several publications"));
}

TEST_F(Robustness, NodesOfOneNameAreToldApart) {
  Program third = scenario.program(3, "h", "second");
  const std::uint64_t twin = scenario.node(third, "filter");
  const test::Subscription also = scenario.subscription(third, twin, "/raw");
  for (std::int64_t i = 1; i < 4; ++i) {
    flow(10'000 * i, i);
    scenario.handle(third, also, i, 300);
  }
  const Model found = model();
  EXPECT_THAT(edges_of(found), ElementsAre(the_edge, "/sensor:timer-10ms -> /filter:/raw#2"));
  const json provenance = provenance_of(found);
  EXPECT_EQ(provenance["alike_nodes"]["/filter"], (json{2, 3}));
  EXPECT_THAT(provenance["warnings"].dump(),
              HasSubstr("2 nodes are called /filter (processes 2, 3)"));
}

TEST_F(Robustness, TwinsThatDoDifferentThingsAreNotConfused) {
  Program third = scenario.program(3, "h", "second");
  const std::uint64_t twin = scenario.node(third, "filter");
  const std::uint64_t also = scenario.timer(third, twin, std::chrono::milliseconds(20));
  flow(0, 1);
  scenario.run(third, also, 10);
  const json provenance = provenance_of(model());
  EXPECT_EQ(provenance["alike_nodes"]["/filter"], (json{2, 3}));
  EXPECT_THAT(provenance["warnings"], IsEmpty());
}

TEST_F(Robustness, ANodeWhoseCallbacksNeverRanIsNoTwin) {
  Program third = scenario.program(3, "h", "second");
  const std::uint64_t twin = scenario.node(third, "filter");
  scenario.run(third, scenario.subscription(third, twin, "/never").callback, 1);
  scenario.now = 2'000'000;
  scenario.look(third);  // start-up is over, and from then on it runs nothing
  flow(2'001'000, 1);
  const json provenance = provenance_of(model());
  EXPECT_THAT(provenance["alike_nodes"], IsEmpty());
  EXPECT_THAT(provenance["warnings"], IsEmpty());
}

}  // namespace
}  // namespace takt::synthesis
