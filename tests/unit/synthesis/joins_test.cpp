#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "synthesized.hpp"
#include "takt/synthesis/declared_sets.hpp"

namespace takt::synthesis {
namespace {

using model::Model;
using nlohmann::json;
using test::EventType;
using test::Program;
using test::Scenario;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// Two timers feed a node that publishes.
class Fusion : public testing::Test {
 protected:
  explicit Fusion(std::uint64_t depth = 5) : depth_of_b(depth) {}

  std::uint64_t depth_of_b;
  Scenario scenario;
  Program program = scenario.program(1);
  std::uint64_t left = scenario.node(program, "left");
  std::uint64_t right = scenario.node(program, "right");
  std::uint64_t fusion = scenario.node(program, "fusion");
  std::uint64_t sink = scenario.node(program, "sink");
  test::Publisher a = scenario.publisher(program, left, "/a");
  test::Publisher b = scenario.publisher(program, right, "/b");
  test::Publisher out = scenario.publisher(program, fusion, "/out");
  std::uint64_t timer_a = scenario.timer(program, left, std::chrono::milliseconds(10));
  std::uint64_t timer_b = scenario.timer(program, right, std::chrono::milliseconds(10));
  test::Subscription on_a = scenario.subscription(program, fusion, "/a");
  test::Subscription on_b =
      scenario.subscription(program, fusion, "/b", "Node::on_message()", depth_of_b);
  test::Subscription on_out = scenario.subscription(program, sink, "/out");
  std::int64_t stamp = 0;

  void arrive(bool is_a, std::int64_t length, bool publishes) {
    ++stamp;
    scenario.now += 1'000;
    scenario.run(program, is_a ? timer_a : timer_b, 0, std::pair(is_a ? a : b, stamp));
    const auto output = publishes ? std::optional(std::pair(out, stamp)) : std::nullopt;
    scenario.handle(program, is_a ? on_a : on_b, stamp, length, output);
    if (publishes) {
      scenario.handle(program, on_out, stamp, 1);
    }
  }

  /// How many messages wait at most for the callback that the inputs are in the model.
  std::optional<std::int64_t> depth_of_fused() {
    scenario.add(program, EventType::message_link_partial_sync, {}, {},
                 {{on_a.handle, on_b.handle}, {out.handle}});
    for (int i = 0; i < 10; ++i) {
      arrive(true, 300, false);
      arrive(false, 500, true);
    }
    const Model model = model_of(scenario);
    EXPECT_EQ(model[model.joins.at(0).callback].id, "/fusion:/a+/b");
    return model[model.joins.at(0).callback].queue_depth;
  }

  /// Options that declare the node's subscriptions as a join, and a chain through it.
  static Options declaring(std::string_view kind) {
    auto declared = model::parse(R"({"format": "takt/model", "version": 1,
      "executors": [{"id": "e"}],
      "callbacks": [
        {"id": "l", "node": "/left", "executor": "e", "kind": "timer",
         "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 10000000}},
        {"id": "r", "node": "/right", "executor": "e", "kind": "timer",
         "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 10000000}},
        {"id": "f", "node": "/fusion", "executor": "e", "kind": "subscription",
         "execution_time": {"curve": [1]}},
        {"id": "s", "node": "/sink", "executor": "e", "kind": "subscription", "topic": "/out",
         "execution_time": {"curve": [1]}}],
      "edges": [{"from": "l", "to": "f", "topic": "/a"}, {"from": "r", "to": "f", "topic": "/b"},
                {"from": "f", "to": "s", "topic": "/out"}],
      "joins": [{"callback": "f", "kind": ")" +
                                     std::string(kind) + R"(", "inputs": ["l", "r"]}],
      "chains": [{"id": "c", "callbacks": ["l", "f", "s"]}]})",
                                 "declared");
    EXPECT_TRUE(declared) << declared.error().message;
    return {.chains_from = declared->model, .supplies_from = {}};
  }
};

TEST_F(Fusion, IsTheDeclaredJoinIfEveryRunAgrees) {  // facts 25 and 26: the completing input varies
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, false);
    arrive(true, 3, false);  // replaces the one before
    arrive(false, 500, true);
    arrive(false, 2, false);
    arrive(true, 400 + i, true);
  }
  const Model model = model_of(scenario, declaring("newest"));
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_EQ(model.joins[0].kind, model::JoinKind::newest);
  EXPECT_EQ(model[model.joins[0].callback].id, "/fusion:/a+/b");
  EXPECT_THAT(ids_of(model, model.joins[0].inputs),
              ElementsAre("/left:timer-10ms", "/right:timer-10ms"));
  EXPECT_THAT(edges_of(model),
              ElementsAre("/left:timer-10ms -> /fusion:/a+/b", "/right:timer-10ms -> /fusion:/a+/b",
                          "/fusion:/a+/b -> /sink:/out"));
  ASSERT_THAT(model.chains, SizeIs(1));
  EXPECT_THAT(ids_of(model, model.chains[0].callbacks),
              ElementsAre("/left:timer-10ms", "/fusion:/a+/b", "/sink:/out"));
  // A completion carries the runs that only stored: 2 + 3 + 500 µs.
  EXPECT_EQ(model[model.joins[0].callback].execution_time[0], std::chrono::microseconds(505));
  EXPECT_EQ(model[model.joins[0].callback].execution_time[1], std::chrono::microseconds(916));
}

/// What the sink sends to the fusion would be a cycle without end. The message that begins it comes
/// from elsewhere.
TEST_F(Fusion, ActivationsOfACycleAreThoseWhereItsMessagesArrive) {
  const auto back = scenario.publisher(program, sink, "/a");
  for (int i = 0; i < 200; ++i) {
    scenario.now = std::int64_t{1000} * i;
    scenario.handle(program, on_a, i, 1);
    scenario.now += 496;
    scenario.run(program, timer_b, 1, std::pair(b, 1000 + i));
    scenario.handle(program, on_b, 1000 + i, 1, std::pair(out, 1000 + i));
    scenario.handle(program, on_out, 1000 + i, 1, std::pair(back, i + 1));
  }
  const Model model = model_of(scenario);
  const auto fusion_callback =
      std::ranges::find(model.callbacks, "/fusion", &model::Callback::node);
  ASSERT_NE(fusion_callback, model.callbacks.end());
  EXPECT_THAT(json::parse(model.provenance)["warnings"].dump(),
              HasSubstr("would be a cycle without end"));
  ASSERT_TRUE(fusion_callback->activation);
  const auto& values = std::get<model::MinDistanceActivation>(*fusion_callback->activation).values;
  ASSERT_GE(values.size(), 2u);
  // From the first, which counts when it is taken, to the first that the sink sent.
  EXPECT_EQ(values[1], std::chrono::microseconds(500));
}

// Whichever input of the first join comes last publishes, so either may be the second join's
// sender.
TEST_F(Fusion, IsAnInputOfAnotherThoughItsCompletingInputVaries) {
  const auto third = scenario.node(program, "third");
  const auto c = scenario.publisher(program, third, "/c");
  const auto timer_c = scenario.timer(program, third, std::chrono::milliseconds(10));
  const auto last = scenario.node(program, "last");
  const auto on_fused = scenario.subscription(program, last, "/out");
  const auto on_c = scenario.subscription(program, last, "/c");
  const auto done = scenario.publisher(program, last, "/done");
  for (int i = 0; i < 10; ++i) {
    arrive(i % 2 == 0, 2, false);
    arrive(i % 2 != 0, 500, true);
    scenario.handle(program, on_fused, stamp, 2);
    scenario.run(program, timer_c, 0, std::pair(c, 1'000 + i));
    scenario.handle(program, on_c, 1'000 + i, 300, std::pair(done, 2'000 + i));
  }
  const Model model = model_of(scenario);
  std::vector<std::string> joins;
  for (const model::Join& join : model.joins) joins.push_back(model[join.callback].id);
  EXPECT_THAT(joins, UnorderedElementsAre("/fusion:/a+/b", "/last:/out+/c"));
  EXPECT_THAT(edges_of(model), testing::Contains("/fusion:/a+/b -> /last:/out+/c"));
}

TEST_F(Fusion, IsNoJoinIfOneRunDisagrees) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, false);
    arrive(false, 500, true);
  }
  arrive(false, 500, true);  // without a new /a
  const Model model = model_of(scenario, declaring("newest"));
  EXPECT_THAT(model.joins, SizeIs(0));
  EXPECT_THAT(edges_of(model), SizeIs(3));
}

TEST_F(Fusion, IsInferredFromTheRunsThatWaited) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 200, false);
    arrive(true, 200, false);
    arrive(false, 500, true);
    arrive(false, 200, false);
    arrive(true, 400, true);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_EQ(model.joins[0].kind, model::JoinKind::newest);
  EXPECT_EQ(model[model.joins[0].callback].id, "/fusion:/a+/b");
  EXPECT_EQ(model.joins[0].confidence, 90);  // /b waited 10 times for /a
  EXPECT_THAT(model.chains, SizeIs(2));
}

TEST_F(Fusion, IsInferredWhereAnInputIsKeptAndNeverLate) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, false);
    arrive(false, 500, true);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  const model::Join& join = model.joins[0];
  EXPECT_EQ(join.confidence, 50);
  ASSERT_EQ(join.completed_by.size(), 1U);
  EXPECT_EQ(model[join.completed_by[0]].id, "/right:timer-10ms");
  EXPECT_EQ(join.keeping_time, std::chrono::microseconds(2));
}

TEST_F(Fusion, IsNoJoinWhereAnInputThatIsNeverWaitedForIsWorkedOn) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 300, false);
    arrive(false, 500, true);
  }
  const Model model = model_of(scenario);
  EXPECT_THAT(model.joins, SizeIs(0));
  EXPECT_THAT(edges_of(model),
              UnorderedElementsAre("/left:timer-10ms -> /fusion:/a",
                                   "/right:timer-10ms -> /fusion:/b", "/fusion:/b -> /sink:/out"));
}

TEST_F(Fusion, IsNoJoinWhereEachInputIsRelayed) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, true);
    arrive(false, 5, true);
  }
  EXPECT_THAT(model_of(scenario).joins, SizeIs(0));
}

TEST_F(Fusion, OfEveryMessageIsInferred) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 200, false);
    arrive(true, 200, false);
    arrive(false, 500, true);
    arrive(false, 500, true);  // with the second of /a
    arrive(false, 200, false);
    arrive(true, 500, true);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_EQ(model.joins[0].kind, model::JoinKind::and_);
}

struct FusionWithADeepInput : Fusion {
  FusionWithADeepInput() : Fusion(8) {}
};
struct FusionWithAShallowInput : Fusion {
  FusionWithAShallowInput() : Fusion(1) {}
};
/// With "keep all", whose depth is 0.
struct FusionWithAnUnboundedInput : Fusion {
  FusionWithAnUnboundedInput() : Fusion(0) {}
};

TEST_F(FusionWithADeepInput, KeepsAsManyMessagesAsThat) { EXPECT_EQ(depth_of_fused(), 8); }

TEST_F(FusionWithAShallowInput, KeepsAsManyMessagesAsTheOther) { EXPECT_EQ(depth_of_fused(), 5); }

TEST_F(FusionWithAnUnboundedInput, KeepsAnyNumberOfMessages) {
  EXPECT_EQ(depth_of_fused(), std::nullopt);
}

TEST_F(Fusion, IsTheLinkThatTheProgramDeclares) {
  scenario.add(program, EventType::message_link_partial_sync, {}, {},
               {{on_a.handle, on_b.handle}, {out.handle}});
  for (int i = 0; i < 10; ++i) {
    arrive(true, 300, false);
    arrive(false, 500, true);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_FALSE(model.joins[0].confidence);
}

TEST_F(Fusion, IsNotTheLinkThatTheProgramDeclaresIfARunDisagrees) {
  scenario.add(program, EventType::message_link_partial_sync, {}, {},
               {{on_a.handle, on_b.handle}, {out.handle}});
  for (int i = 0; i < 10; ++i) {
    arrive(true, 300, false);
    arrive(false, 500, true);
  }
  arrive(false, 500, true);
  const Model model = model_of(scenario);
  EXPECT_THAT(model.joins, SizeIs(0));
  EXPECT_THAT(json::parse(model.provenance)["warnings"][0].get<std::string>(),
              HasSubstr("not taken for a join"));
}

TEST_F(Fusion, IsNoJoinIfALinkedInputCameOnlyDuringStartUp) {
  scenario.add(program, EventType::message_link_partial_sync, {}, {},
               {{on_a.handle, on_b.handle}, {out.handle}});
  arrive(false, 500, false);
  scenario.now = 2'000'000;
  for (int i = 0; i < 10; ++i) arrive(true, 300, false);
  EXPECT_THAT(model_of(scenario).joins, SizeIs(0));
}

TEST(DeclaredSets, CostAtMostTheLongestTime) {
  execution::Objects objects;
  execution::InputLink link;
  for (std::size_t i = 0; i < 4; ++i) link.inputs.emplace_back(i);
  objects.input_links.push_back(link);
  DeclaredSets sets;
  for (const ObservedCallbackIndex input : link.inputs) {
    execution::CallbackInstance longest;
    longest.callback = input;
    longest.cpu_time = longest_time;
    sets.add(objects, longest);
  }
  const auto* const cost = sets.cost({link.inputs.begin(), link.inputs.end()});
  ASSERT_NE(cost, nullptr);
  EXPECT_EQ(cost->values().front(), longest_time);
}

TEST_F(Fusion, IsAJoinOfTheDeclaredKindWhereTheTraceLeavesItOpen) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, false);
    arrive(false, 500, true);
  }
  const Model model = model_of(scenario, declaring("and"));
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_EQ(model.joins[0].kind, model::JoinKind::and_);
}

TEST_F(Fusion, IsOfTheKindThatTheProgramDeclares) {
  scenario.add(program, EventType::inputs_linked, {0}, {"and"}, {{on_a.callback, on_b.callback}});
  scenario.add(program, EventType::links_declared, {1});
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, false);
    arrive(false, 500, true);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_EQ(model.joins[0].kind, model::JoinKind::and_);
  EXPECT_FALSE(model.joins[0].confidence);
}

TEST_F(Fusion, ThatPublishesNothingCostsWhatItsSetsDo) {
  scenario.add(program, EventType::inputs_linked, {0}, {"newest"},
               {{on_a.callback, on_b.callback}});
  scenario.add(program, EventType::links_declared, {1});
  for (int i = 0; i < 10; ++i) {
    // Either may complete a set, and then does the work for both.
    arrive(i % 2 == 0, 2, false);
    arrive(i % 2 != 0, 500, false);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  const auto& curve = model[model.joins[0].callback].execution_time;
  EXPECT_EQ(curve[0], std::chrono::microseconds(502));
  EXPECT_EQ(curve[1], std::chrono::microseconds(1004));
}

TEST_F(Fusion, IsNotInferredWhereTheProgramDeclaresThatThereIsNone) {
  scenario.add(program, EventType::links_declared, {0});
  for (int i = 0; i < 10; ++i) {
    arrive(true, 300, false);
    arrive(false, 500, true);
  }
  EXPECT_THAT(model_of(scenario).joins, SizeIs(0));
}

}  // namespace
}  // namespace takt::synthesis
