#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "takt/goals/callbacks_named.hpp"
#include "takt/goals/goals.hpp"
#include "takt/model/json.hpp"

namespace takt::goals {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// camera publishes /image to detector and (from a timer of its own) /info to viewer; detector and
/// lidar reach brake on /obstacles and /scan; brake publishes /cmd to motor on two ways, directly
/// and through limiter.
model::Model robot() {
  const auto parsed = model::parse(R"({
    "format": "takt/model", "version": 1,
    "executors": [{"id": "e"}],
    "callbacks": [
      {"id": "c0", "name": "camera.image", "node": "/camera", "executor": "e", "kind": "timer",
       "registration": 0, "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 100}},
      {"id": "c1", "node": "/camera", "executor": "e", "kind": "timer",
       "registration": 1, "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 200}},
      {"id": "c2", "node": "/detector", "executor": "e", "kind": "subscription", "topic": "/image",
       "registration": 2, "execution_time": {"curve": [1]}},
      {"id": "c3", "node": "/viewer", "executor": "e", "kind": "subscription", "topic": "/info",
       "registration": 3, "execution_time": {"curve": [1]}},
      {"id": "c4", "node": "/brake", "executor": "e", "kind": "subscription", "topic": "/obstacles",
       "registration": 4, "execution_time": {"curve": [1]}},
      {"id": "c5", "node": "/brake", "executor": "e", "kind": "subscription", "topic": "/scan",
       "registration": 5, "execution_time": {"curve": [1]}, "activation": {"kind": "sporadic", "min_separation": 50}},
      {"id": "c6", "node": "/limiter", "executor": "e", "kind": "subscription", "topic": "/wish",
       "registration": 6, "execution_time": {"curve": [1]}},
      {"id": "c7", "node": "/motor", "executor": "e", "kind": "subscription", "topic": "/cmd",
       "registration": 7, "execution_time": {"curve": [1]}},
      {"id": "c8", "node": "/watchdog", "executor": "e", "kind": "subscription", "topic": "/wish",
       "registration": 8, "execution_time": {"curve": [1]}},
      {"id": "c9", "node": "/horn", "executor": "e", "kind": "subscription", "topic": "/alarm",
       "registration": 9, "execution_time": {"curve": [1]}}
    ],
    "edges": [
      {"from": "c0", "to": "c2", "topic": "/image"}, {"from": "c1", "to": "c3", "topic": "/info"},
      {"from": "c2", "to": "c4", "topic": "/obstacles"}, {"from": "c4", "to": "c6", "topic": "/wish"},
      {"from": "c4", "to": "c7", "topic": "/cmd"}, {"from": "c6", "to": "c7", "topic": "/cmd"},
      {"from": "c5", "to": "c7", "topic": "/cmd"},
      {"from": "c4", "to": "c8", "topic": "/wish"},
      {"from": "c6", "to": "c9", "topic": "/alarm"}, {"from": "c8", "to": "c9", "topic": "/alarm"}
    ]})",
                                   "robot.json");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed->model;
}

std::vector<std::string> ids_of(const model::Model& model,
                                const std::vector<model::CallbackIndex>& callbacks) {
  std::vector<std::string> ids;
  for (const model::CallbackIndex callback : callbacks) ids.push_back(model[callback].id);
  return ids;
}

/// Ids of the chain from one name to another, or the message.
std::vector<std::string> chain(const std::string& from, const std::string& to,
                               std::vector<std::string> via = {}) {
  const model::Model model = robot();
  const auto found = find_ways(
      model, {.name = "g", .from = from, .to = to, .via = std::move(via), .latency = Duration{1}});
  if (!found) return {found.error().message};
  if (found->counted.size() != 1) return {"several ways"};
  return ids_of(model, found->counted.front().callbacks);
}

/// Each way from one name to another, with its key.
std::map<std::string, std::vector<std::string>> ways(const model::Model& model,
                                                     const std::string& from, const std::string& to,
                                                     std::vector<std::string> via = {}) {
  const auto found = find_ways(
      model, {.name = "g", .from = from, .to = to, .via = std::move(via), .latency = Duration{1}});
  std::map<std::string, std::vector<std::string>> ids;
  if (!found) return ids;
  for (const Way& way : found->counted) {
    ids[fmt::format("{}", fmt::join(way.via, ", "))] = ids_of(model, way.callbacks);
  }
  return ids;
}

TEST(FindChain, TopicsAreWhereMessagesArriveAndWhereTheyArePublished) {
  EXPECT_THAT(chain("/image", "/obstacles"), ElementsAre("c2"));
  EXPECT_THAT(chain("image", "/wish"), ElementsAre("c2", "c4"));
}

TEST(FindChain, NodesAndCallbacksAreNamedWithOrWithoutASlash) {
  EXPECT_THAT(chain("/camera", "/detector"), ElementsAre("c0", "c2"));
  EXPECT_THAT(chain("camera", "detector"), ElementsAre("c0", "c2"));
  EXPECT_THAT(chain("camera.image", "c4"), ElementsAre("c0", "c2", "c4"));
  EXPECT_THAT(chain("/camera", "/viewer"), ElementsAre("c1", "c3"));
}

TEST(FindChain, ANodeWithATopicIsOneSideOfIt) {
  EXPECT_THAT(chain("/brake:/scan", "/motor"), ElementsAre("c5", "c7"));
  EXPECT_THAT(chain("/camera:/info", "viewer:info"), ElementsAre("c1", "c3"));
  EXPECT_THAT(chain("/camera:image", "/brake:/wish"), ElementsAre("c0", "c2", "c4"));
}

TEST(FindWays, EachHasAKeyThatViaAccepts) {
  const model::Model model = robot();
  for (const std::string end : {"/horn", "/motor"}) {
    const auto found = find_ways(
        model, {.name = "g", .from = "/camera", .to = end, .via = {}, .latency = Duration{1}});
    ASSERT_TRUE(found);
    ASSERT_THAT(found->counted, SizeIs(2)) << end;
    for (const Way& way : found->counted) {
      EXPECT_THAT(way.via, Not(IsEmpty()));
      EXPECT_EQ(chain("/camera", end, way.via), ids_of(model, way.callbacks));
    }
  }
}

TEST(FindWays, AShorterOneIsToldApartByWhatItDoesNotPass) {
  EXPECT_THAT(ways(robot(), "/camera", "/motor"),
              UnorderedElementsAre(Pair("/limiter", ElementsAre("c0", "c2", "c4", "c6", "c7")),
                                   Pair("not /limiter", ElementsAre("c0", "c2", "c4", "c7"))));
}

TEST(FindWays, APartOfAnotherIsNone) {
  // The node's callback that is activated by its other one begins no way of its own.
  model::Model model = robot();
  model.callbacks[6].node = "/brake";
  EXPECT_THAT(ways(model, "/brake:/obstacles", "/horn", {"c6"}),
              ElementsAre(Pair("", ElementsAre("c4", "c6", "c9"))));
  EXPECT_THAT(ways(model, "/brake", "/horn", {"c6"}),
              ElementsAre(Pair("", ElementsAre("c4", "c6", "c9"))));
}

TEST(FindWays, OverInferredLinksCountOnlyWhereNoOtherLeads) {
  model::Model model = robot();
  model.edges[3].confidence = 50;  // from /brake to /limiter
  model.callbacks[6].kind = model::CallbackKind::timer;
  const Goal goal{
      .name = "g", .from = "/camera", .to = "/motor", .via = {}, .latency = Duration{1}};
  const auto found = find_ways(model, goal);
  ASSERT_TRUE(found);
  ASSERT_THAT(found->counted, SizeIs(1));
  EXPECT_THAT(ids_of(model, found->counted[0].callbacks), ElementsAre("c0", "c2", "c4", "c7"));
  ASSERT_THAT(found->apart, SizeIs(1));
  EXPECT_THAT(found->apart[0].via, ElementsAre("/limiter"));
  EXPECT_THAT(ways(model, "/camera", "/motor", {"/limiter"}),
              ElementsAre(Pair("", ElementsAre("c0", "c2", "c4", "c6", "c7"))));
  EXPECT_THAT(ways(model, "/camera", "/limiter"),
              ElementsAre(Pair("", ElementsAre("c0", "c2", "c4", "c6"))));
  // What waits for another callback than a timer is no guess of what a timer reads.
  model.callbacks[6].kind = model::CallbackKind::subscription;
  EXPECT_THAT(ways(model, "/camera", "/motor"), SizeIs(2));
}

TEST(Apply, MakesAChainOfEachWayAndNamesThoseThatDoNotCount) {
  model::Model model = robot();
  Goals goals;
  goals.chains.push_back(
      {.name = "stop", .from = "/camera", .to = "/motor", .via = {}, .latency = Duration{7}});
  const auto lines = apply(goals, "goals.yaml", model);
  ASSERT_TRUE(lines);
  EXPECT_THAT(*lines, IsEmpty());
  ASSERT_THAT(model.chains, SizeIs(2));
  std::set<std::string> names;
  for (const model::Chain& chain : model.chains) {
    EXPECT_EQ(chain.goal, Duration{7});
    EXPECT_EQ(chain.rank, 1);
    names.insert(chain.id);
  }
  EXPECT_THAT(names, ElementsAre("stop via /limiter", "stop via not /limiter"));

  model = robot();
  model.edges[3].confidence = 50;
  model.callbacks[6].kind = model::CallbackKind::timer;
  model.callbacks[6].activation = model::PeriodicActivation{.period = Duration{100}};
  const auto more = apply(goals, "goals.yaml", model);
  ASSERT_TRUE(more);
  EXPECT_THAT(*more,
              ElementsAre("goals.yaml: chains[0] (\"stop\"): 1 more ways pass links that are "
                          "only inferred, and do not count; one of them: via: [/limiter]"));
  ASSERT_THAT(model.chains, SizeIs(1));
  EXPECT_EQ(model.chains[0].id, "stop");
}

TEST(FindChain, ViaNamesOneOfSeveralWays) {
  EXPECT_THAT(chain("/camera", "/horn", {"/watchdog"}), ElementsAre("c0", "c2", "c4", "c8", "c9"));
  EXPECT_THAT(chain("/camera", "/horn", {"/obstacles", "/limiter"}),
              ElementsAre("c0", "c2", "c4", "c6", "c9"));
  EXPECT_THAT(chain("/camera", "/horn", {"/limiter", "/obstacles"}),
              ElementsAre("nothing leads from \"/camera\" to \"/horn\" by way of what \"via\" "
                          "names; from there messages come to /horn, /motor, /viewer"));
}

TEST(FindChain, AWrongNameIsToldWithThoseLikeIt) {
  EXPECT_THAT(chain("/imgae", "/motor"),
              ElementsAre("from: no topic, node or callback is called \"/imgae\"; did you mean "
                          "\"/image\"?"));
  EXPECT_THAT(chain("/camera", "/brak"),
              ElementsAre("to: no topic, node or callback is called \"/brak\"; did you mean "
                          "\"/brake\" or \"/brake:/cmd\" or \"/brake:/obstacles\"?"));
  EXPECT_THAT(chain("/camera", "/xyzzy"),
              ElementsAre("to: no topic, node or callback is called \"/xyzzy\", and nothing like "
                          "it; takt info TRACE lists them (a topic that no recorded node receives "
                          "is not known: name the node that publishes it)"));
}

TEST(FindChain, NothingLeadsBackwards) {
  EXPECT_THAT(chain("/motor", "/camera"),
              ElementsAre("nothing leads from \"/motor\" to \"/camera\"; from there messages come "
                          "to /motor"));
}

TEST(FindChain, MessagesThatDoNotTriggerEachOtherAreNoWay) {
  model::Model model = robot();
  // What brake publishes to motor comes from /scan alone.
  model.edges[3].triggered_by = std::vector<model::CallbackIndex>{};
  const auto found = find_ways(
      model, {.name = "g", .from = "/camera", .to = "/limiter", .via = {}, .latency = Duration{1}});
  EXPECT_FALSE(found);
}

TEST(FindChain, AGridOfWaysEndsSoon) {
  // 2^40 ways through 40 diamonds.
  model::Model model;
  const auto add = [&](const std::string& id) {
    model::Callback& callback = model.callbacks.emplace_back();
    callback.id = callback.node = id;
    return model::CallbackIndex{model.callbacks.size() - 1};
  };
  const auto connect = [&](model::CallbackIndex from, model::CallbackIndex to) {
    model::Edge& edge = model.edges.emplace_back();
    edge.from = from;
    edge.to = to;
  };
  model::CallbackIndex before = add("n0");
  for (int i = 1; i <= 40; ++i) {
    const auto left = add(fmt::format("l{}", i));
    const auto right = add(fmt::format("r{}", i));
    const auto after = add(fmt::format("n{}", i));
    for (const auto side : {left, right}) {
      connect(before, side);
      connect(side, after);
    }
    before = after;
  }
  const auto found =
      find_ways(model, {.name = "g", .from = "n0", .to = "n40", .via = {}, .latency = Duration{1}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "very many ways lead from \"n0\" to \"n40\"; name callbacks between under \"via\"");
}

/// A stack frame for each callback of the path would overflow the stack.
TEST(FindChain, WaysThatPassVeryManyCallbacksAreRefused) {
  const auto pipeline = [](std::size_t length) {
    model::Model model;
    model.executors.emplace_back().id = "e";
    for (std::size_t i = 0; i < length; ++i) {
      model::Callback& callback = model.callbacks.emplace_back();
      callback.id = fmt::format("n{}", i);
      if (i == 0) continue;
      model::Edge& edge = model.edges.emplace_back();
      edge.from = model::CallbackIndex{i - 1};
      edge.to = model::CallbackIndex{i};
    }
    return model;
  };
  const auto find = [&](std::size_t length) {
    return find_ways(pipeline(length), {.name = "g",
                                        .from = "n0",
                                        .to = fmt::format("n{}", length - 1),
                                        .via = {},
                                        .latency = Duration{1}});
  };
  const auto longest = find(1000);
  ASSERT_TRUE(longest) << longest.error().message;
  EXPECT_EQ(longest->counted.front().callbacks.size(), 1000);
  const auto refused = find(150'000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "a way from \"n0\" to \"n149999\" passes more than 1000 callbacks; name ends that are "
            "nearer");
}

TEST(ApplyGoals, ChainsGetTheirRanksByOrder) {
  model::Model model = robot();
  model.chains.push_back({"old", {model::CallbackIndex{0}}, std::nullopt, std::nullopt, {}});
  const Goals goals{.chains = {{"fast", "/scan", "/cmd", {}, Duration{5}},
                               {"slow", "/camera", "/viewer", {}, Duration{9}}}};
  ASSERT_TRUE(apply(goals, "goals.yaml", model));
  ASSERT_EQ(model.chains.size(), 2);
  EXPECT_EQ(model.chains[0].id, "fast");
  EXPECT_THAT(model.chains[0].callbacks, ElementsAre(model::CallbackIndex{5}));
  EXPECT_EQ(model.chains[0].goal, Duration{5});
  EXPECT_EQ(model.chains[0].rank, 1);
  EXPECT_EQ(model.chains[1].rank, 2);
  const auto refused = apply({.chains = {{"x", "/scn", "/cmd", {}, Duration{5}}}}, "g.yaml", model);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "g.yaml: chains[0] (\"x\"): from: no topic, node or callback is called \"/scn\"; did "
            "you mean \"/scan\"?");
}

TEST(CallbacksNamed, NothingIsNoName) {
  EXPECT_THAT(callbacks_named(robot(), "", Place::first), IsEmpty());
  EXPECT_THAT(callbacks_named(robot(), "/", Place::first), IsEmpty());
  EXPECT_THAT(callbacks_named(robot(), ":", Place::last), IsEmpty());
}

}  // namespace
}  // namespace takt::goals
