#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "synthesized.hpp"

/// Numbered facts are those of ros-llama.md, section 7.
namespace takt::synthesis {
namespace {

using nlohmann::json;
using test::Program;
using test::Scenario;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

/// A timer's messages go to a filter, whose messages go to a sink; the filter may change phase.
class PhasesTest : public testing::Test {
 protected:
  Scenario scenario;
  Program program = scenario.program(1, "h", "robot");
  std::uint64_t sensor = scenario.node(program, "sensor");
  std::uint64_t filter = scenario.node(program, "filter");
  std::uint64_t sink = scenario.node(program, "sink");
  test::Publisher raw = scenario.publisher(program, sensor, "/raw");
  test::Publisher clean = scenario.publisher(program, filter, "/clean");
  test::Publisher other = scenario.publisher(program, filter, "/other");
  test::Publisher parameters = scenario.publisher(program, filter, "/parameter_events");
  std::uint64_t tick = scenario.timer(program, sensor, std::chrono::milliseconds(10));
  test::Subscription on_raw = scenario.subscription(program, filter, "/raw");
  test::Subscription on_clean = scenario.subscription(program, sink, "/clean");
  test::Subscription on_other = scenario.subscription(program, sink, "/other");
  test::Service change = scenario.service(program, filter, "/filter/change_state");
  test::Client manager = scenario.client(program, sink, "/filter/change_state");
  std::int64_t stamp = 0;
  json provenance;

  /// Runs the chain `count` times, every 10 ms; the filter takes `length`.
  void work(int count, std::int64_t length, const test::Publisher& output,
            const test::Subscription& reader) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t begin = scenario.now;
      ++stamp;
      scenario.run(program, tick, 100, std::pair(raw, stamp));
      scenario.handle(program, on_raw, stamp, length, std::pair(output, stamp));
      scenario.handle(program, reader, stamp, 300);
      scenario.now = begin + 10'000;
    }
  }

  model::Model model(bool phases = true) {
    const model::Model made = model_of(scenario, {}, {.phases = phases});
    provenance = json::parse(made.provenance);
    return made;
  }
  static std::map<std::string, Duration> times(const model::Model& model) {
    std::map<std::string, Duration> found;
    for (const auto& callback : model.callbacks) {
      found[callback.id] = callback.execution_time.front();
    }
    return found;
  }
};

TEST_F(PhasesTest, F15_APublicationOfParametersBeginsAPhaseOfItsNode) {
  scenario.now = 2'000'000;
  work(20, 5000, clean, on_clean);
  scenario.publish(program, parameters, 77);
  work(20, 1000, other, on_other);
  const auto made = model();
  EXPECT_THAT(times(made), UnorderedElementsAre(Pair("/sensor:timer-10ms", Duration(100'000)),
                                                Pair("/filter:/raw", Duration(1'000'000)),
                                                Pair("/sink:/clean", Duration(300'000)),
                                                Pair("/sink:/other", Duration(300'000))));
  EXPECT_THAT(edges_of(made), UnorderedElementsAre("/sensor:timer-10ms -> /filter:/raw",
                                                   "/filter:/raw -> /sink:/other"));
  EXPECT_EQ(provenance["phases"],
            json::parse(R"([{"node": "/filter", "changes": 1, "since": 2200000000,
                             "shown_by": "parameters"}])"));
}

TEST_F(PhasesTest, WhatWasSentInAnEarlierPhaseCountsAsFromOutside) {
  scenario.now = 2'000'000;
  work(20, 5000, clean, on_clean);
  scenario.publish(program, parameters, 77);
  work(20, 1000, other, on_other);
  for (const auto& callback : model().callbacks) {
    EXPECT_EQ(callback.activation.has_value(),
              callback.id == "/sensor:timer-10ms" || callback.id == "/sink:/clean")
        << callback.id;
  }
}

TEST_F(PhasesTest, F15_ARequestToChangeTheStateBeginsAPhaseOfItsNode) {
  scenario.now = 2'000'000;
  work(20, 5000, clean, on_clean);
  scenario.send_request(program, manager, 1);
  scenario.serve(program, change, manager, 1, 70);
  work(20, 1000, clean, on_clean);
  const auto made = model();
  EXPECT_EQ(times(made)["/filter:/raw"], Duration(1'000'000));
  EXPECT_EQ(provenance["phases"][0]["node"], "/filter");
  EXPECT_EQ(provenance["phases"][0]["shown_by"], "lifecycle");
  EXPECT_THAT(provenance["left_out"], ElementsAre("/filter:/filter/change_state"));
}

/// A driver thread begins to sleep by a rate. Its first class is no change.
TEST_F(PhasesTest, AThreadOfAnotherClassBeginsAPhaseOfItsNode) {
  const auto thread = scenario.worker(program, 77);
  scenario.now = 2'000'000;
  work(20, 5000, clean, on_clean);
  scenario.publish(thread, other, 501);
  scenario.now += 10'000;
  scenario.publish(thread, other, 502);
  work(20, 1000, clean, on_clean);
  EXPECT_EQ(times(model())["/filter:/raw"], Duration(5'000'000));
  EXPECT_THAT(provenance["phases"], IsEmpty());

  scenario.add(thread, tracepoints::RateSleep{.period = 20'000'000});
  scenario.now += 20'000;
  scenario.add(thread, tracepoints::RateWakeup{});
  scenario.publish(thread, other, 503);
  work(20, 1000, clean, on_clean);
  scenario.rewind();
  EXPECT_EQ(times(model())["/filter:/raw"], Duration(1'000'000));
  ASSERT_EQ(provenance["phases"].size(), 1u);
  EXPECT_EQ(provenance["phases"][0]["shown_by"], "thread");
}

TEST_F(PhasesTest, WithoutTheOptionAllThatHappenedCounts) {
  scenario.now = 2'000'000;
  work(20, 5000, clean, on_clean);
  scenario.publish(program, parameters, 77);
  work(20, 1000, other, on_other);
  const auto made = model(false);
  EXPECT_EQ(times(made)["/filter:/raw"], Duration(5'000'000));
  EXPECT_THAT(edges_of(made),
              UnorderedElementsAre("/sensor:timer-10ms -> /filter:/raw",
                                   "/filter:/raw -> /sink:/clean", "/filter:/raw -> /sink:/other"));
  EXPECT_FALSE(provenance.contains("phases"));
}

/// A distance of more activations than the phase had is no longer than the phase.
TEST_F(PhasesTest, APhaseWasWatchedSinceItBegan) {
  const auto outside = scenario.subscription(program, filter, "/outside");
  scenario.now = 2'000'000;
  for (int i = 0; i < 30; ++i) {
    scenario.handle(program, outside, 5000 + i, 100);
    scenario.now += 99'900;
  }
  scenario.publish(program, parameters, 77);
  for (int i = 0; i < 3; ++i) {
    scenario.handle(program, outside, 6000 + i, 100);
    scenario.now += 99'900;
  }
  work(1, 100, clean, on_clean);
  const auto made = model();
  const auto found = std::ranges::find(made.callbacks, "/filter:/outside", &model::Callback::id);
  ASSERT_NE(found, made.callbacks.end());
  const auto& activation = std::get<model::MinDistanceActivation>(*found->activation);
  ASSERT_EQ(activation.values.size(), 4u);
  EXPECT_EQ(activation.values[2], std::chrono::milliseconds(200));
  EXPECT_LE(activation.values[3], std::chrono::milliseconds(320));
}

/// A declared join is the same in all phases, but the cost of its sets is not.
TEST_F(PhasesTest, WhatDeclaredJoinsCostIsThatOfThePresentPhase) {
  const auto left = scenario.publisher(program, sensor, "/left");
  const auto right = scenario.publisher(program, sink, "/right");
  const auto on_left = scenario.subscription(program, filter, "/left");
  const auto on_right = scenario.subscription(program, filter, "/right");
  const auto right_tick = scenario.timer(program, sink, std::chrono::milliseconds(20));
  scenario.add(program, events::EventType::inputs_linked, {0}, {"newest"},
               {{on_left.callback, on_right.callback}});
  const auto round = [&](std::int64_t length) {
    for (int i = 0; i < 20; ++i) {
      const std::int64_t begin = scenario.now;
      ++stamp;
      scenario.run(program, tick, 100, std::pair(left, stamp));
      scenario.run(program, right_tick, 100, std::pair(right, stamp));
      scenario.handle(program, on_left, stamp, length);
      scenario.handle(program, on_right, stamp, length, std::pair(clean, stamp));
      scenario.handle(program, on_clean, stamp, 300);
      scenario.now = begin + 20'000;
    }
  };
  const auto cost = [&](const model::Model& made) {
    EXPECT_EQ(made.joins.size(), 1u);
    return made[made.joins.at(0).callback].execution_time.front();
  };
  scenario.now = 2'000'000;
  round(5000);
  EXPECT_EQ(cost(model()), Duration(10'000'000));
  scenario.rewind();
  scenario.publish(program, parameters, 77);
  round(1000);
  EXPECT_EQ(cost(model()), Duration(2'000'000));
  scenario.rewind();
  EXPECT_EQ(cost(model(false)), Duration(10'000'000));
}

/// A join that the new phase no longer has.
TEST_F(PhasesTest, JoinsAreThoseOfThePresentPhase) {
  const auto left = scenario.publisher(program, sensor, "/left");
  const auto right = scenario.publisher(program, sink, "/right");
  const auto on_left = scenario.subscription(program, filter, "/left");
  const auto on_right = scenario.subscription(program, filter, "/right");
  const auto left_tick = scenario.timer(program, sensor, std::chrono::milliseconds(20));
  const auto right_tick = scenario.timer(program, sink, std::chrono::milliseconds(20));
  const auto round = [&](bool joined) {
    for (int i = 0; i < 20; ++i) {
      ++stamp;
      const bool left_first = i % 2 == 0;
      scenario.run(program, left_tick, 100, std::pair(left, stamp));
      scenario.run(program, right_tick, 100, std::pair(right, stamp));
      const auto& first = left_first ? on_left : on_right;
      const auto& second = left_first ? on_right : on_left;
      const auto output = std::optional(std::pair(clean, stamp));
      scenario.handle(program, first, stamp, 50,
                      joined ? std::nullopt : std::optional(std::pair(other, stamp)));
      scenario.handle(program, second, stamp, 50, output);
      scenario.now += 20'000;
    }
  };
  scenario.now = 2'000'000;
  round(true);
  EXPECT_EQ(model().joins.size(), 1u);
  scenario.publish(program, parameters, 77);
  round(false);
  scenario.rewind();
  EXPECT_THAT(model().joins, IsEmpty());
}

}  // namespace
}  // namespace takt::synthesis
