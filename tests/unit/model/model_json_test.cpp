#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "takt/model/json.hpp"
#include "takt/model/order.hpp"

namespace takt::model {
namespace {

constexpr std::string_view complete = R"({
  "format": "takt/model", "version": 1, "name": "robot", "author": {"name": "x"},
  "provenance": {"tool": "test"},
  "executors": [
    {"id": "e0", "name": "main", "kind": "single_threaded", "timers": "privileged", "threads": 1,
     "cpu": 2, "supply": {"kind": "reservation", "budget": 2000000, "period": 5000000,
     "deadline": 4000000, "flavour": "hard"}, "overhead": [150000, 200000], "process": "p"},
    {"id": "s", "kind": "event_source", "colour": "blue"},
    {"id": "t", "kind": "table_driven", "supply": {"kind": "slots", "cycle": 50,
     "slots": [{"start": 0, "end": 20}, {"start": 30, "end": 45}]},
     "table": {"cycle": 100, "slots": [{"start": 5, "end": 10, "callback": "c3"}]}},
    {"id": "p", "kind": "fixed_priority", "release_overhead": 120}],
  "callbacks": [
    {"id": "laser", "executor": "s", "kind": "event_source", "execution_time": {"curve": [0]},
     "activation": {"kind": "min_distance", "values": [0, 5, 20]}},
    {"id": "c0", "name": "timer", "node": "/n", "executor": "e0", "kind": "timer",
     "topic": null, "registration": 3, "execution_time": {"curve": [3000000, 5500000]},
     "activation": {"kind": "periodic", "period": 50000000, "jitter": 7}, "deadline": 9},
    {"id": "c1", "executor": "e0", "kind": "subscription", "topic": "/t", "registration": 1,
     "execution_time": {"curve": [10]}, "activation": null, "priority": -4, "queue_depth": 5},
    {"id": "c2", "executor": "e0", "kind": "client", "execution_time": {"curve": [10]},
     "activation": {"kind": "sporadic", "min_separation": 100}},
    {"id": "c3", "executor": "t", "kind": "timer", "execution_time": {"curve": [1]},
     "activation": {"kind": "periodic", "period": 100}}],
  "links": [{"id": "wire", "bandwidth": 1000000000, "chunk_bytes": 2000, "overhead": 25000,
             "medium": "copper"},
            {"id": "radio", "bandwidth": 6000000}],
  "edges": [
    {"from": "c0", "to": "c1", "topic": "/t", "delay": 0, "triggered_by": null},
    {"from": "laser", "to": "c1", "topic": "/u", "delay": 9, "message_size": 4096, "link": "wire",
     "priority": -2},
    {"from": "c1", "to": "c2", "triggered_by": ["c0"]}],
  "joins": [{"callback": "c1", "kind": "newest", "inputs": ["c0", "laser"]}],
  "chains": [{"id": "pilot", "callbacks": ["c0", "c1"], "goal": 125000000, "rank": 1}]
})";

TEST(ModelJson, ReadsEveryField) {
  const auto parsed = parse(complete, "robot.json");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const Model& model = parsed->model;
  EXPECT_EQ(model.name, "robot");
  EXPECT_EQ(model.provenance, R"({"tool":"test"})");

  ASSERT_EQ(model.links.size(), 2U);
  EXPECT_EQ(model.links[0].bandwidth, 1'000'000'000);
  EXPECT_EQ(model.links[0].chunk_bytes, 2000);
  EXPECT_EQ(model.links[0].overhead, Duration{25'000});
  EXPECT_EQ(model.links[0].unknown.at("medium"), R"("copper")");
  EXPECT_EQ(model.links[1].chunk_bytes, 65536);
  EXPECT_EQ(model.edges[0].link, std::nullopt);
  EXPECT_EQ(model.edges[1].link, LinkIndex{0});
  EXPECT_EQ(model.edges[1].priority, -2);

  const Executor& e0 = model.executors[0];
  EXPECT_EQ(e0.timers, TimerHandling::privileged);
  EXPECT_EQ(e0.cpu, 2);
  EXPECT_EQ(
      e0.supply,
      (Supply{ReservationSupply{Duration{2'000'000}, Duration{5'000'000}, Duration{4'000'000}}}));
  EXPECT_EQ(e0.overhead, (std::vector{Duration{150'000}, Duration{200'000}}));
  EXPECT_EQ(e0.process, "p");
  EXPECT_EQ(model.executors[1].kind, ExecutorKind::event_source);
  EXPECT_EQ(model.executors[1].name, "s");
  EXPECT_EQ(model.executors[1].supply, Supply{DedicatedSupply{}});

  EXPECT_EQ(model.executors[2].supply,
            (Supply{SlotSupply{Duration{50},
                               {{Duration{0}, Duration{20}}, {Duration{30}, Duration{45}}}}}));
  EXPECT_EQ(model.executors[2].table,
            (SlotTable{Duration{100}, {{{Duration{5}, Duration{10}}, CallbackIndex{4}}}}));
  EXPECT_EQ(model.executors[3].release_overhead, Duration{120});

  EXPECT_EQ(model.callbacks[0].activation,
            (Activation{MinDistanceActivation{{Duration{0}, Duration{5}, Duration{20}}}}));
  EXPECT_EQ(model.callbacks[1].activation,
            (Activation{PeriodicActivation{Duration{50'000'000}, Duration{7}}}));
  EXPECT_EQ(model.callbacks[1].deadline, Duration{9});
  EXPECT_EQ(model.callbacks[1].registration, 3);
  EXPECT_EQ(model.callbacks[2].activation, std::nullopt);
  EXPECT_EQ(model.callbacks[2].priority, -4);
  EXPECT_EQ(model.callbacks[2].queue_depth, 5);
  EXPECT_EQ(model.callbacks[2].topic, "/t");
  EXPECT_EQ(model.callbacks[3].activation,
            (Activation{SporadicActivation{Duration{100}, Duration{0}}}));

  EXPECT_EQ(model.edges[1].from, CallbackIndex{0});
  EXPECT_EQ(model.edges[1].delay, Duration{9});
  EXPECT_EQ(model.edges[1].message_size, 4096);
  EXPECT_EQ(model.edges[2].triggered_by, std::vector{CallbackIndex{1}});
  EXPECT_EQ(model.joins[0].kind, JoinKind::newest);
  EXPECT_EQ(model.chains[0].goal, Duration{125'000'000});
}

TEST(ModelJson, RoundTripKeepsEverything) {
  const auto parsed = parse(complete, "robot.json");
  ASSERT_TRUE(parsed);
  const std::string written = to_json(parsed->model);
  const auto again = parse(written, "again.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->model, parsed->model);
  EXPECT_EQ(to_json(again->model), written);
}

TEST(ModelJson, SuspensionsInARowMayBeLeftOut) {
  auto document = nlohmann::json::parse(complete);
  auto& suspension = document["callbacks"][1]["suspension"];
  suspension = {{"curve", {7}}, {"times", 3}};
  const auto alone = parse(document.dump(), "robot.json");
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(alone->model.callbacks[1].suspension->times_curve(), std::vector<std::int64_t>{3});
  suspension["times_in_a_row"] = {3, 4};
  const auto in_a_row = parse(document.dump(), "robot.json");
  ASSERT_TRUE(in_a_row) << in_a_row.error().message;
  EXPECT_EQ(in_a_row->model.callbacks[1].suspension->times_curve(),
            (std::vector<std::int64_t>{3, 4}));
}

TEST(ModelJson, UnknownFieldsAreKeptInPlaceAndWarnedAbout) {
  const auto parsed = parse(complete, "robot.json");
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->warnings,
              testing::UnorderedElementsAre(
                  "robot.json: author: unknown field, kept but not used",
                  "robot.json: executors[0].supply.flavour: unknown field, kept but not used",
                  "robot.json: executors[1].colour: unknown field, kept but not used",
                  "robot.json: links[0].medium: unknown field, kept but not used"));
  const std::string written = to_json(parsed->model);
  EXPECT_THAT(written, testing::HasSubstr(R"("author": {"name":"x"})"));
  EXPECT_THAT(written, testing::HasSubstr(R"("deadline":4000000,"flavour":"hard"})"));
  EXPECT_THAT(written, testing::HasSubstr(R"("colour":"blue")"));
}

/// Wherever they stand, and whatever characters of JSON pointers are in their names.
TEST(ModelJson, UnknownFieldsReturnToTheirPlaces) {
  constexpr std::string_view text = R"({
    "format": "takt/model", "version": 1, "callbacks": [], "a/b~c": 1,
    "executors": [{"id": "e", "supply/kind": "x", "supply": {"kind": "slots", "cycle": 9,
      "slots": [{"start": 1, "end": 2}, {"start": 3, "end": 4, "note": {"deep": [1]}}]}}]})";
  const auto parsed = parse(text, "robot.json");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(parsed->warnings,
              testing::UnorderedElementsAre(
                  "robot.json: a/b~c: unknown field, kept but not used",
                  "robot.json: executors[0].supply.slots[1].note: unknown field, kept but not used",
                  "robot.json: executors[0].supply/kind: unknown field, kept but not used"));
  const auto written = nlohmann::json::parse(to_json(parsed->model));
  EXPECT_EQ(written["a/b~c"], 1);
  const auto& executor = written["executors"][0];
  EXPECT_EQ(executor["supply/kind"], "x");
  EXPECT_EQ(executor["supply"]["kind"], "slots");
  EXPECT_EQ(executor["supply"]["slots"][1]["note"]["deep"][0], 1);
  EXPECT_FALSE(executor["supply"]["slots"][0].contains("note"));
}

TEST(ModelJson, TextThatIsNotUtf8IsWrittenReplaced) {
  Model model;
  model.name = "\xff";
  const auto parsed = parse(to_json(model), "m");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->model.name, "\xEF\xBF\xBD");
}

TEST(RosLlamaFact, F04_CategoryOrderThenRegistrationOrder) {
  Model model;
  model.executors.resize(1);
  const auto add = [&](std::string id, CallbackKind kind, std::int64_t registration) {
    Callback callback;
    callback.id = std::move(id);
    callback.kind = kind;
    callback.registration = registration;
    model.callbacks.push_back(callback);
  };
  add("client", CallbackKind::client, 0);
  add("waitable", CallbackKind::waitable, 0);
  add("service", CallbackKind::service, 0);
  add("late subscription", CallbackKind::subscription, 9);
  add("early subscription", CallbackKind::subscription, 2);
  add("tied subscription", CallbackKind::subscription, 2);
  add("timer", CallbackKind::timer, 50);
  std::vector<std::string> ids;
  const auto order = callbacks_by_executor(model);
  for (const CallbackIndex index : order[0]) ids.push_back(model[index].id);
  EXPECT_THAT(ids, testing::ElementsAre("timer", "early subscription", "tied subscription",
                                        "late subscription", "service", "client", "waitable"));
}

}  // namespace
}  // namespace takt::model
