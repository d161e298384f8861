#include <gmock/gmock.h>

#include "synthesized.hpp"

namespace takt::synthesis {
namespace {

using model::Model;
using test::EventType;
using test::Program;
using test::Scenario;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// A sensor's messages are kept by a subscription; a timer of its node publishes to an actuator.
class Sampling : public testing::Test {
 protected:
  Scenario scenario;
  Program program = scenario.program(1);
  std::uint64_t sensor = scenario.node(program, "sensor");
  std::uint64_t control = scenario.node(program, "control");
  std::uint64_t actuator = scenario.node(program, "actuator");
  test::Publisher scan = scenario.publisher(program, sensor, "/scan");
  test::Publisher command = scenario.publisher(program, control, "/command");
  std::uint64_t sensing = scenario.timer(program, sensor, std::chrono::milliseconds(10));
  std::uint64_t controlling = scenario.timer(program, control, std::chrono::milliseconds(20));
  test::Subscription on_scan = scenario.subscription(program, control, "/scan");
  test::Subscription on_command = scenario.subscription(program, actuator, "/command");
  std::int64_t stamp = 0;

  void sense() {
    scenario.now += 1'000;
    scenario.run(program, sensing, 10, std::pair(scan, ++stamp));
    scenario.handle(program, on_scan, stamp, 5);
  }
  /// Edges without messages.
  static std::ptrdiff_t sampled_inputs(const Model& model) {
    return std::ranges::count_if(model.edges, [](const auto& edge) { return !edge.topic; });
  }
  void act(bool publishes = true) {
    scenario.now += 1'000;
    if (!publishes) {
      scenario.run(program, controlling, 30);
      return;
    }
    scenario.run(program, controlling, 30, std::pair(command, ++stamp));
    scenario.handle(program, on_command, stamp, 7);
  }
};

/// The timer takes messages of the sensor itself; three were sent before.
class Taking : public Sampling {
 protected:
  std::int64_t sent = 0;
  std::int64_t taken = 0;

  void send() { scenario.run(program, sensing, 10, std::pair(scan, ++sent)); }
  /// Takes one message at each run, or all.
  void take(const test::Subscription& from, bool all) {
    send();
    send();
    for (int run = 0; run < 20; ++run) {
      scenario.now += 19'000;
      send();
      scenario.now += 1'000;
      scenario.start(program, controlling);
      do {
        scenario.take(program, from, ++taken);
      } while (all && taken < sent);
      if (all) scenario.take(program, from, 0, false);
      scenario.publish(program, command, 1000 + run);
      scenario.end(program, controlling);
    }
  }
  [[nodiscard]] Duration delay() {
    const Model model = model_of(scenario);
    const auto edge = std::ranges::find_if(
        model.edges, [&](const auto& each) { return model[each.to].id == "/control:timer-20ms"; });
    return edge == model.edges.end() ? Duration::max() : edge->delay;
  }
};

TEST_F(Taking, OneMessageAtEachRunWaitsForAllOthersThatTheQueueHolds) {
  take(on_scan, false);
  EXPECT_EQ(delay(), 4 * std::chrono::milliseconds(20));
}

TEST_F(Taking, OneMessageOfAQueueOfUnknownDepthWaitsAsLongAsSeen) {
  take(scenario.subscription(program, control, "/scan", "Node::on_message()", 0), false);
  // The third message of those that waited was not taken by two runs.
  EXPECT_EQ(delay(), std::chrono::microseconds(1'000 + 20'000 + 10));
}

TEST_F(Taking, AllMessagesFindsTheNewest) {
  take(on_scan, true);
  EXPECT_EQ(delay(), Duration(0));
}

TEST_F(Taking, OneMessageOfAQueueOfOneFindsTheNewest) {
  take(scenario.subscription(program, control, "/scan", "Node::on_message()", 1), false);
  EXPECT_EQ(delay(), Duration(0));
}

TEST_F(Sampling, IsWhatTheProgramDeclares) {
  scenario.add(program, EventType::inputs_linked, {controlling}, {"sampled"}, {{on_scan.callback}});
  scenario.add(program, EventType::links_declared, {1});
  sense();
  act();
  const Model model = model_of(scenario);
  ASSERT_EQ(sampled_inputs(model), 1);
  EXPECT_TRUE(std::ranges::none_of(model.edges,
                                   [](const auto& edge) { return edge.confidence.has_value(); }));
}

TEST_F(Sampling, IsLeftOutWithAWarningWhereWhatReadsIsNoTimer) {
  scenario.add(program, EventType::inputs_linked, {on_command.callback}, {"sampled"},
               {{on_command.callback, on_scan.callback}});
  scenario.add(program, EventType::links_declared, {1});
  sense();
  act();
  const Model model = model_of(scenario);
  EXPECT_EQ(sampled_inputs(model), 0);
  EXPECT_TRUE(model::parse(model::to_json(model), "recorded"));
  EXPECT_THAT(
      model.provenance,
      HasSubstr(R"(\"/actuator:/command\" is declared to read what \"/control:/scan\" keeps)"));
}

TEST_F(Sampling, IsNotInferredWhereTheProgramDeclaresThatThereIsNone) {
  scenario.add(program, EventType::links_declared, {0});
  sense();
  act();
  EXPECT_EQ(sampled_inputs(model_of(scenario)), 0);
}

TEST_F(Sampling, IsInferredWhereADeclaredLinkIsLost) {
  scenario.add(program, EventType::links_declared, {1});
  sense();
  act();
  EXPECT_EQ(sampled_inputs(model_of(scenario)), 1);
}

TEST_F(Sampling, IsAnEdgeToTheTimerAndPartOfAChain) {
  for (int i = 0; i < 5; ++i) {
    sense();
    sense();
    act();
  }
  const Model model = model_of(scenario);
  EXPECT_THAT(edges_of(model), UnorderedElementsAre("/sensor:timer-10ms -> /control:/scan",
                                                    "/control:/scan -> /control:timer-20ms",
                                                    "/control:timer-20ms -> /actuator:/command"));
  EXPECT_EQ(model.edges.back().confidence, 50);
  EXPECT_EQ(model.edges.back().topic, std::nullopt);
  ASSERT_THAT(model.chains, SizeIs(2));
  EXPECT_EQ(model.chains[0].id, "/sensor->/actuator");
  EXPECT_THAT(ids_of(model, model.chains[0].callbacks),
              ElementsAre("/sensor:timer-10ms", "/control:/scan", "/control:timer-20ms",
                          "/actuator:/command"));
  EXPECT_EQ(model.chains[1].id, "/control->/actuator");
}

TEST_F(Sampling, IsSurerOfATimerThatWaitedForTheFirstMessage) {
  for (int i = 0; i < 4; ++i) {
    act(false);
  }
  for (int i = 0; i < 5; ++i) {
    sense();
    act();
  }
  EXPECT_EQ(model_of(scenario).edges.back().confidence, 80);
}

TEST_F(Sampling, IsSureWhereTheProgramDeclaresIt) {
  scenario.add(program, EventType::message_link_periodic_async, {}, {},
               {{on_scan.handle}, {command.handle}});
  sense();
  act();
  const Model model = model_of(scenario);
  EXPECT_THAT(model.edges, SizeIs(3));
  EXPECT_EQ(model.edges.back().confidence, std::nullopt);
}

TEST_F(Sampling, IsNoEdgeToATimerThatPublishesNothing) {
  sense();
  act(false);
  EXPECT_THAT(edges_of(model_of(scenario)), ElementsAre("/sensor:timer-10ms -> /control:/scan"));
}

}  // namespace
}  // namespace takt::synthesis
