#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "takt/base/isolated.hpp"
#include "takt/model/json.hpp"
#include "takt/model/trigger_order.hpp"

/// Every mistake that a model can contain, with the one line that the user gets.
namespace takt::model {
namespace {

using nlohmann::json;

json two_callbacks() {
  return json::parse(R"({
    "format": "takt/model", "version": 1,
    "executors": [{"id": "e0"}],
    "callbacks": [
      {"id": "c0", "executor": "e0", "kind": "timer", "execution_time": {"curve": [5]},
       "activation": {"kind": "periodic", "period": 100}},
      {"id": "c1", "executor": "e0", "kind": "subscription", "execution_time": {"curve": [5]}}],
    "edges": [{"from": "c0", "to": "c1"}],
    "chains": [{"id": "g", "callbacks": ["c0", "c1"]}]})");
}

std::string fault_of(const std::string& text) {
  const auto parsed = parse(text, "robot.json");
  return parsed ? "" : parsed.error().message;
}

struct Mistake {
  std::string where;  // JSON pointer
  std::string value;  // what is put there; empty: the member is removed
  std::string message;
};

class ModelMistake : public testing::TestWithParam<Mistake> {};

TEST_P(ModelMistake, IsNamed) {
  json document = two_callbacks();
  const json::json_pointer where(GetParam().where);
  if (GetParam().value.empty()) {
    document.at(where.parent_pointer()).erase(where.back());
  } else {
    document[where] = json::parse(GetParam().value);
  }
  EXPECT_EQ(fault_of(document.dump()), "robot.json: " + GetParam().message);
}

json two_hosts() {
  json document = two_callbacks();
  document["executors"].push_back({{"id", "e1"}});
  document["callbacks"][1]["executor"] = "e1";
  document["links"] = {{{"id", "wire"}, {"bandwidth", 1'000'000}}};
  document["edges"][0]["link"] = "wire";
  return document;
}

class LinkMistake : public testing::TestWithParam<Mistake> {};

TEST_P(LinkMistake, IsNamed) {
  json document = two_hosts();
  ASSERT_EQ(fault_of(document.dump()), "");
  document[json::json_pointer(GetParam().where)] = json::parse(GetParam().value);
  EXPECT_EQ(fault_of(document.dump()), "robot.json: " + GetParam().message);
}

TEST(ModelMistakes, AnInferredEdgeIsNoInputOfAJoin) {
  json document = two_callbacks();
  document["callbacks"][1]["activation"] = document["callbacks"][0]["activation"];
  document["edges"][0]["confidence"] = 50;
  EXPECT_EQ(fault_of(document.dump()), "");
  document["joins"] = json::parse(R"([{"callback": "c1", "kind": "and", "inputs": ["c0"]}])");
  EXPECT_EQ(
      fault_of(document.dump()),
      "robot.json: joins[0].inputs[0]: the edge from \"c0\" to \"c1\" has a confidence, so it "
      "activates nothing; leave one of the two out");
}

INSTANTIATE_TEST_SUITE_P(
    Fields, LinkMistake,
    testing::Values(
        Mistake{"/links/0/bandwidth", "0", "links[0].bandwidth: must be at least 1"},
        Mistake{"/links/0/bandwidth", "null",
                "links[0].bandwidth: missing; the link's bits per second"},
        Mistake{"/links/0/chunk_bytes", "0", "links[0].chunk_bytes: must be at least 1"},
        Mistake{"/executors/2", R"({"id": "wire"})",
                "links[0].id: \"wire\" is an executor; give the link a name of its own"},
        Mistake{"/edges/0/transport", "\"shared_memory\"",
                "edges[0].transport: \"shared_memory\" stays on one machine, and a link leads to "
                "another; leave one out"},
        Mistake{"/edges/0/transport", "\"pigeon\"",
                "edges[0].transport: \"pigeon\" is none of shared_memory"},
        Mistake{"/edges/0/link", "\"air\"", "edges[0].link: there is no link \"air\""},
        Mistake{"/callbacks/1/executor", "\"e0\"",
                "edges[0].link: \"c0\" and \"c1\" run on one executor, so no link is between "
                "them"},
        Mistake{"/edges/1", R"({"from": "c0", "to": "c1"})",
                "edges[0].link: another edge leads from \"c0\" to \"c1\"; an edge over a link is "
                "the only one between its callbacks"},
        Mistake{"/edges/0/message_size", "1000000000000",
                "edges[0].message_size: 1000000000000 bytes take longer than the longest time on "
                "link \"wire\", 1000000000000000 ns (11.5 days)"}));

TEST(LinkMistakes, EachChunkTakesAtLeastANanosecond) {
  json document = two_hosts();
  document["links"][0]["bandwidth"] = 1'000'000'000'000'000'000;
  document["links"][0]["chunk_bytes"] = 1;
  document["edges"][0]["message_size"] = 1'000'000'000'000'000;
  EXPECT_EQ(fault_of(document.dump()), "");
  document["edges"][0]["message_size"] = 1'000'000'000'000'001;
  EXPECT_EQ(
      fault_of(document.dump()),
      "robot.json: edges[0].message_size: 1000000000000001 bytes take longer than the longest "
      "time on link \"wire\", 1000000000000000 ns (11.5 days)");
}

INSTANTIATE_TEST_SUITE_P(
    Fields, ModelMistake,
    testing::Values(
        Mistake{"/format", "",
                "format: missing; a timing model begins with \"format\": "
                "\"takt/model\""},
        Mistake{"/format", "\"takt/bounds\"", "format: \"takt/bounds\" is not takt/model"},
        Mistake{"/version", "2",
                "version: 2 is not supported; this version of takt reads version 1"},
        Mistake{"/executors", "", "executors: missing; use [] if there are none"},
        Mistake{"/executors", "{}", "executors: must be an array, is object"},
        Mistake{"/callbacks/1", "7", "callbacks[1]: must be an object, is number"},
        Mistake{"/executors/0/id", "", "executors[0].id: missing; a unique name"},
        Mistake{"/executors/0/kind", "\"magic\"",
                "executors[0].kind: \"magic\" is none of single_threaded, multi_threaded, events, "
                "fixed_priority, edf, chain_priority, graph_aware, table_driven, event_source"},
        Mistake{"/executors/0/threads", "2",
                "executors[0].threads: a single_threaded executor has one thread; use kind "
                "multi_threaded"},
        Mistake{"/executors/0", R"({"id": "e0", "kind": "multi_threaded", "threads": 4294967297})",
                "executors[0].threads: must be at most 1024"},
        Mistake{"/executors/0/overhead", "[5, 3]",
                "executors[0].overhead[1]: 3 ns is less than the 5 ns before it; the values are "
                "cumulative"},
        Mistake{"/callbacks/0/executor", "\"e9\"",
                "callbacks[0].executor: there is no executor \"e9\""},
        Mistake{"/callbacks/0/executor", "",
                "callbacks[0].executor: missing; name an executor by its id"},
        Mistake{"/callbacks/2",
                R"({"id": "c0", "executor": "e0", "kind": "client", "execution_time": {"curve":
                [1]}, "activation": {"kind": "periodic", "period": 9}})",
                "callbacks[2].id: \"c0\" is taken by another of the callbacks; ids are unique"},
        Mistake{"/callbacks/0/execution_time/curve/0", "-1",
                "callbacks[0].execution_time.curve[0]: must not be negative, is -1 ns"},
        Mistake{"/callbacks/0/execution_time/curve/0", "1.5",
                "callbacks[0].execution_time.curve[0]: must be an integer number of nanoseconds, "
                "is 1.5"},
        Mistake{"/callbacks/0/execution_time/curve/0", "\"5ms\"",
                "callbacks[0].execution_time.curve[0]: must be an integer number of nanoseconds, "
                "is string"},
        Mistake{"/callbacks/0/execution_time/curve/0", "18446744073709551615",
                "callbacks[0].execution_time.curve[0]: 18446744073709551615 is too large"},
        Mistake{"/callbacks/0/execution_time/curve/0", "1000000000000001",
                "callbacks[0].execution_time.curve[0]: 1000000000000001 ns is longer than the "
                "longest time, 1000000000000000 ns (11.5 days)"},
        Mistake{"/callbacks/0/execution_time/curve", "[]",
                "callbacks[0].execution_time.curve: needs at least 1 value"},
        Mistake{"/callbacks/0/execution_time/curve", "[5, 4]",
                "callbacks[0].execution_time.curve[1]: 4 ns is less than the 5 ns before it; the "
                "values are cumulative"},
        Mistake{"/callbacks/0/execution_time/curve", "[5, 8, 14]",
                "callbacks[0].execution_time.curve[2]: not sub-additive: 3 instances cannot cost "
                "14 ns when 1 cost at most 5 ns and 2 at most 8 ns"},
        Mistake{"/callbacks/0/suspension", R"({"curve": [5], "times": 0})",
                "callbacks[0].suspension.times: must be at least 1"},
        Mistake{"/callbacks/0/suspension", R"({"curve": [5], "times": 1.5})",
                "callbacks[0].suspension.times: must be an integer, is 1.5"},
        Mistake{"/callbacks/0/suspension",
                R"({"curve": [5], "times": 3, "times_in_a_row": [3, 2]})",
                "callbacks[0].suspension.times_in_a_row[1]: 2 is less than the 3 before it; the "
                "values are "
                "cumulative"},
        Mistake{"/callbacks/0/suspension", R"({"curve": [5], "times_in_a_row": [2, 3]})",
                "callbacks[0].suspension.times_in_a_row[0]: must be 1, as `times` says"},
        Mistake{"/callbacks/0/suspension", R"({"curve": [5], "times_in_a_row": [1, 3]})",
                "callbacks[0].suspension.times_in_a_row[1]: not sub-additive: 2 instances cannot "
                "cost 3 "
                "when 1 cost at most 1 and 1 at most 1"},
        Mistake{"/callbacks/0/execution_time", "",
                "callbacks[0].execution_time: missing; give {\"curve\": [ET(1), ET(2), …]}, the "
                "longest execution times"},
        Mistake{"/callbacks/0/activation/period", "0",
                "callbacks[0].activation.period: must be at least 1 ns, is 0 ns"},
        Mistake{"/callbacks/0/activation/phase", "1000000000000000",
                "callbacks[0].activation.phase: 1000000000000000 ns is not below the period, 100 "
                "ns; give the remainder, since phases only say how timers lie to each other"},
        Mistake{"/callbacks/0/activation", "null",
                "callbacks[0].activation: missing; timer \"c0\" is activated by no message, so say "
                "how often it is activated"},
        Mistake{"/callbacks/0/activation", R"({"kind":"sometimes"})",
                "callbacks[0].activation.kind: \"sometimes\" is none of periodic, sporadic, "
                "min_distance"},
        Mistake{"/callbacks/0/activation", R"({"kind":"min_distance","values":[0, 9, 5]})",
                "callbacks[0].activation.values[2]: 5 ns is less than the 9 ns before it; the "
                "values are cumulative"},
        Mistake{"/callbacks/0/activation", R"({"kind":"min_distance","values":[0, 9, 10]})",
                "callbacks[0].activation.values[2]: not super-additive: 3 activations cannot fit "
                "in 10 ns when 2 need 9 ns and 2 need 9 ns"},
        Mistake{"/callbacks/0/activation", R"({"kind":"min_distance","values":[0, 0]})",
                "callbacks[0].activation.values[1]: must be above 0, else activations are not "
                "limited at all"},
        Mistake{"/edges", "[]",
                "callbacks[1].activation: missing; no edge leads to subscription \"c1\", so say "
                "how often it is activated or add the edge"},
        Mistake{"/edges/0/to", "\"c9\"", "edges[0].to: there is no callback \"c9\""},
        Mistake{"/edges/0/delay", "-3", "edges[0].delay: must not be negative, is -3 ns"},
        Mistake{"/edges/0/messages", "1",
                "edges[0].instances: missing; a share of instances that send needs both fields"},
        Mistake{"/edges/0/instances", "2",
                "edges[0].messages: missing; a share of instances that send needs both fields"},
        Mistake{"/edges/0", R"({"from": "c0", "to": "c1", "messages": 3, "instances": 2})",
                "edges[0].messages: 3 of 2 instances cannot send"},
        Mistake{"/edges/0/triggered_by", "[\"c1\"]",
                "edges[0].triggered_by[0]: \"c1\" is not a predecessor of \"c0\"; no edge leads "
                "from it"},
        Mistake{"/joins", R"([{"callback": "c1", "kind": "and", "inputs": ["c1"]}])",
                "joins[0].inputs[0]: \"c1\" is not a predecessor of \"c1\"; no edge leads from it"},
        Mistake{"/joins",
                R"([{"callback": "c1", "kind": "and", "inputs": ["c0"], "confidence": 50,
                     "completed_by": ["c1"]}])",
                "joins[0].completed_by[0]: \"c1\" is not among the inputs"},
        Mistake{"/joins",
                R"([{"callback": "c1", "kind": "and", "inputs": ["c0"], "confidence": 50,
                     "completed_by": ["c0", "c0"]}])",
                "joins[0].completed_by[1]: \"c0\" is named twice"},
        Mistake{"/joins", R"([{"callback": "c0", "kind": "and", "inputs": ["c1"]}])",
                "joins[0].callback: timer \"c0\" is not activated by messages, so it cannot join "
                "them"},
        Mistake{"/chains/0/callbacks", R"(["c1", "c0"])",
                "chains[0].callbacks[1]: no edge leads from \"c1\" to \"c0\"; a chain follows "
                "edges"},
        Mistake{"/chains/0/callbacks", "[]", "chains[0].callbacks: needs at least one callback"},
        Mistake{"/chains/0/goal", "0", "chains[0].goal: must be at least 1 ns, is 0 ns"},
        Mistake{"/executors/0/supply", R"({"kind":"reservation","budget":6,"period":5})",
                "executors[0].supply.budget: 6 ns is more than the deadline of 5 ns; a reservation "
                "needs budget <= deadline <= period"},
        Mistake{"/executors/0/supply",
                R"({"kind":"reservation","budget":2,"period":5,"deadline":6})",
                "executors[0].supply.deadline: 6 ns is longer than the period of 5 ns; a "
                "reservation needs budget <= deadline <= period"},
        Mistake{"/executors/0/supply", R"({"kind":"fixed_priority"})",
                "executors[0].supply.priority: missing; the thread's priority of SCHED_FIFO"},
        Mistake{"/executors/0/supply", R"({"kind":"fixed_priority","priority":0})",
                "executors[0].supply.priority: must be at least 1"},
        Mistake{"/executors/0/supply", R"({"kind":"fixed_priority","priority":100})",
                "executors[0].supply.priority: must be at most 99"},
        Mistake{"/executors/0/supply",
                R"({"kind":"fixed_priority","priority":1,"withheld":5,"withheld_period":5})",
                "executors[0].supply.withheld: 5 ns of every 5 ns leave nothing; it is less than "
                "withheld_period"},
        Mistake{"/executors/0/supply", R"({"kind":"reservation","budget":2})",
                "executors[0].supply.period: missing; how often the budget is supplied"},
        Mistake{"/executors/0/supply", R"({"kind":"slots","cycle":10,"slots":[]})",
                "executors[0].supply.slots: needs at least 1 slot"},
        Mistake{"/executors/0/supply",
                R"({"kind":"slots","cycle":10,"slots":[{"start":0,"end":6},{"start":5,"end":9}]})",
                "executors[0].supply.slots[1]: [5, 9) ns overlaps or precedes [0, 6) ns before it; "
                "slots are in the order of their starts"},
        Mistake{"/executors/0/supply",
                R"({"kind":"slots","cycle":10,"slots":[{"start":4,"end":11}]})",
                "executors[0].supply.slots[0]: [4, 11) ns is no part of the cycle [0, 10) ns"},
        Mistake{"/executors/0/supply", R"({"kind":"slots","slots":[{"start":4,"end":5}]})",
                "executors[0].supply.cycle: missing; how often the slots repeat"},
        Mistake{"/executors/0/table",
                R"({"cycle":10,"slots":[{"start":4,"end":5,"callback":"c0"}]})",
                "executors[0].table: a single_threaded executor goes by no table; use kind "
                "table_driven"},
        Mistake{"/executors/0/table",
                R"({"cycle":10,"slots":[{"start":4,"end":5,"callback":"c9"}]})",
                "executors[0].table.slots[0].callback: there is no callback \"c9\""},
        Mistake{"/executors/0",
                R"({"id":"e0","kind":"table_driven","table":{"cycle":10,"slots":[
                   {"start":4,"end":6,"callback":"c0"},{"start":5,"end":8,"callback":"c1"}]}})",
                "executors[0].table.slots[1]: [5, 8) ns overlaps or precedes [4, 6) ns before it; "
                "slots are in the order of their starts"},
        Mistake{"/executors/0/release_overhead", "5",
                "executors[0].release_overhead: a single_threaded executor has no thread that "
                "releases; leave it out"},
        Mistake{"/callbacks/0/kind", "\"event_source\"",
                "callbacks[0].executor: event_source \"c0\" cannot be on single_threaded executor "
                "\"e0\"; an event source is alone on an executor of kind event_source"}));

TEST(ModelMistakes, CyclicTriggerRelationIsNamed) {
  json document = two_callbacks();
  document["callbacks"].push_back(document["callbacks"][1]);
  document["callbacks"][2]["id"] = "c2";
  document["edges"].push_back({{"from", "c1"}, {"to", "c2"}});
  document["edges"].push_back({{"from", "c2"}, {"to", "c1"}});
  EXPECT_EQ(fault_of(document.dump()),
            "robot.json: edges: cyclic trigger relation c1 → c2 → c1: one activation would cause "
            "activations without end; break it with triggered_by on one of the edges");
  // Only what c0 sends passes on from c1, so the cycle of callbacks is no cycle of triggers.
  document["edges"][1]["triggered_by"] = {"c0"};
  EXPECT_EQ(fault_of(document.dump()), "");
}

TEST(RosLlamaFact, F16_SelfPublisherWithoutTriggersIsNoCycle) {
  json document = two_callbacks();
  document["edges"].push_back({{"from", "c1"}, {"to", "c1"}});
  EXPECT_NE(fault_of(document.dump()), "");
  document["edges"][1]["triggered_by"] = {"c0"};
  EXPECT_EQ(fault_of(document.dump()), "");
}

TEST(ModelMistakes, JoinMakesItsOutputDependOnAllInputs) {
  json document = two_callbacks();
  document["callbacks"].push_back(document["callbacks"][1]);
  document["callbacks"][2]["id"] = "c2";
  document["edges"].push_back({{"from", "c1"}, {"to", "c2"}, {"triggered_by", {"c0"}}});
  document["edges"].push_back({{"from", "c2"}, {"to", "c1"}});
  EXPECT_EQ(fault_of(document.dump()), "");
  document["joins"] = {{{"callback", "c1"}, {"kind", "and"}, {"inputs", {"c0", "c2"}}}};
  EXPECT_THAT(fault_of(document.dump()), testing::HasSubstr("cyclic trigger relation"));
}

TEST(ModelMistakes, TextThatIsNoJson) {
  EXPECT_EQ(fault_of(""),
            "robot.json: line 1, column 1: not valid JSON; is this a takt/model "
            "document?");
  EXPECT_EQ(fault_of("{\n  \"format\": }"),
            "robot.json: line 2, column 13: not valid JSON; is this a takt/model document?");
  EXPECT_EQ(fault_of("[1]"), "robot.json: document: must be an object, is array");
  EXPECT_THAT(fault_of("\xff\xfe{}"), testing::HasSubstr("not valid JSON"));
  EXPECT_EQ(fault_of("{\"format\": 1e999}"),
            "robot.json: a number is too large for JSON; times are integers in nanoseconds");
}

TEST(ModelMistakes, FieldNamedTwice) {
  EXPECT_EQ(fault_of(R"({"format": "takt/model", "format": "takt/model"})"),
            "robot.json: an object names the field \"format\" twice; keep one of them");
}

TEST(ModelMistakes, DeepNestingIsRefusedWithoutRecursion) {
  EXPECT_EQ(fault_of(std::string(1'000'000, '[')),
            "robot.json: nested more than 64 deep; it is not a model");
}

/// Would take hours if each object cost a look at all others.
TEST(ModelMistakes, MillionsOfObjectsAreRefusedAtOnce) {
  std::string text = R"({"format": "takt/model", "version": 1, "callbacks": [)";
  for (int i = 0; i < 2'000'000; ++i) text += "{},";
  text += "{}]}";
  EXPECT_NE(fault_of(text), "");
}

TEST(ModelMistakes, LongChainOfEdgesIsFollowedWithoutRecursion) {
  json document = two_callbacks();
  for (int i = 2; i < 20'000; ++i) {
    document["callbacks"].push_back(document["callbacks"][1]);
    document["callbacks"].back()["id"] = "c" + std::to_string(i);
    document["edges"].push_back(
        {{"from", "c" + std::to_string(i - 1)}, {"to", "c" + std::to_string(i)}});
  }
  EXPECT_EQ(fault_of(document.dump()), "");
  document["edges"].push_back({{"from", "c19999"}, {"to", "c1"}});
  EXPECT_THAT(fault_of(document.dump()),
              testing::HasSubstr("c1 → c2 → c3 → c4 → c5 → c6 → c7 → c8 → … → c1"));
}

/// Trigger sets name all messages of a sender or a join at once, so the relation takes memory for
/// the model, not for each pair of a message that comes and one that it triggers.
TEST(TriggerOrder, TakesMemoryForTheModelAlone) {
  constexpr std::size_t many = 5000;
  const auto sorted = [](const Output& give) {
    Model model;
    model.executors.emplace_back().id = "e";
    const auto add = [&](CallbackKind kind) {
      Callback& callback = model.callbacks.emplace_back();
      callback.kind = kind;
      callback.execution_time = {Duration{1}};
      if (kind == CallbackKind::timer)
        callback.activation = PeriodicActivation{Duration{9}, {}, {}};
      return CallbackIndex{model.callbacks.size() - 1};
    };
    const auto connect = [&](CallbackIndex from, CallbackIndex to,
                             std::optional<std::vector<CallbackIndex>> triggers) {
      Edge& edge = model.edges.emplace_back();
      edge.from = from;
      edge.to = to;
      edge.triggered_by = std::move(triggers);
    };
    // A join of many inputs, and many messages at once from one callback to another.
    const CallbackIndex joins = add(CallbackKind::subscription);
    const CallbackIndex relays = add(CallbackKind::subscription);
    const CallbackIndex sends = add(CallbackKind::timer);
    const CallbackIndex sink = add(CallbackKind::subscription);
    Join& join = model.joins.emplace_back();
    join.callback = joins;
    for (std::size_t n = 0; n < many; ++n) {
      join.inputs.push_back(add(CallbackKind::timer));
      connect(join.inputs.back(), joins, {});
      connect(sends, relays, {});
    }
    for (std::size_t n = 0; n < many; ++n) {
      connect(joins, sink, {{join.inputs.front()}});
      connect(relays, sink, {{sends}});
    }
    const std::string edges = std::to_string(trigger_order(model).edges.size());
    give(std::as_bytes(std::span(edges)));
  };
  EXPECT_EQ(isolated(sorted, {.memory = std::size_t{256} << 20}), std::to_string(4 * many));
}

}  // namespace
}  // namespace takt::model
