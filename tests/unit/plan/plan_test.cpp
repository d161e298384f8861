#include "takt/plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model.hpp"

namespace takt::plan {
namespace {

using model::CallbackIndex;
using model::ExecutorKind;
using scheduling::Rule;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

Plan planned(const model::Model& model, std::optional<ExecutorKind> kind = std::nullopt) {
  auto plan = make_plan(model, kind, {});
  EXPECT_TRUE(plan) << plan.error().message;
  return std::move(*plan);
}

TEST(Plan, SaysWhereCallbacksAreFound) {
  const Plan plan = planned(camera_model());
  ASSERT_EQ(plan.executors.size(), 1U);
  const std::vector<CallbackPlan>& callbacks = plan.executors[0].callbacks;
  ASSERT_EQ(callbacks.size(), 3U);
  EXPECT_EQ(callbacks[0].address.node, "/robot");
  EXPECT_EQ(callbacks[0].address.period, milliseconds(50));
  EXPECT_THAT(callbacks[1].address.topics, ElementsAre("/image"));
  EXPECT_THAT(callbacks[1].address.ordinals, ElementsAre(0U));
  EXPECT_THAT(callbacks[2].address.ordinals, ElementsAre(1U))
      << "the second subscription of the node to the topic";
}

TEST(Plan, DeadlinesOfChainsForEdf) {
  const Plan plan = planned(camera_model());
  const scheduling::PolicyDescription& policy = plan.executors[0].policy;
  EXPECT_EQ(policy.rule, Rule::chain_deadline);
  ASSERT_EQ(policy.chains.size(), 2U) << "the chain, and one for the logger alone";
  EXPECT_EQ(policy.chains[0].callbacks.size(), 2U);
  EXPECT_EQ(policy.chains[0].relative_deadline, milliseconds(40));
  EXPECT_EQ(policy.chains[0].period, milliseconds(50));
}

TEST(Plan, WarnsWhereChainsShareMoreThanTheirFirstCallback) {
  model::Model model = camera_model();
  model::Edge& edge = model.edges.emplace_back();
  edge.from = CallbackIndex(2);
  edge.to = CallbackIndex(1);
  edge.topic = "entry";
  model::Chain& chain = model.chains.emplace_back();
  chain.id = "other";
  chain.callbacks = {CallbackIndex(2), CallbackIndex(1)};
  const Plan plan = planned(model);
  EXPECT_EQ(plan.executors[0].policy.rule, Rule::deadline);
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_THAT(plan.warnings[0], HasSubstr("\"filter\" is in several chains"));
  EXPECT_THAT(plan.warnings[0], HasSubstr("scheduled by inherited deadlines"));
}

TEST(Plan, IsReadAsItIsWritten) {
  for (const ExecutorKind kind :
       {ExecutorKind::single_threaded, ExecutorKind::events, ExecutorKind::fixed_priority,
        ExecutorKind::edf, ExecutorKind::chain_priority, ExecutorKind::graph_aware}) {
    const std::string written = to_json(planned(camera_model(), kind));
    const auto read = parse_plan(written, "plan.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(to_json(*read), written);
  }
}

TEST(Plan, KeepsTheFixedPriorityOfAThread) {
  model::Model model = camera_model();
  model.executors[0].supply = model::FixedPrioritySupply{.priority = 42};
  const std::string written = to_json(planned(model, ExecutorKind::events));
  const auto read = parse_plan(written, "plan.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(std::get<model::FixedPrioritySupply>(read->executors[0].supply).priority, 42);
  EXPECT_EQ(to_json(*read), written);
}

TEST(Plan, TablesToo) {
  policy::Options options;
  options.tables["main"] = {
      .cycle = milliseconds(50),
      .slots = {{.start = {}, .end = milliseconds(10), .callback = "camera"}}};
  const auto plan = make_plan(camera_model(), ExecutorKind::table_driven, options);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto read = parse_plan(to_json(*plan), "plan.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->executors[0].policy.slots.size(), 1U);
  EXPECT_EQ(to_json(*read), to_json(*plan));
}

std::string fault_of(const std::string& executor) {
  const auto plan = parse_plan(
      R"({"format": "takt/plan", "version": 1, "executors": [)" + executor + "]}", "plan.json");
  return plan ? "" : plan.error().message;
}

TEST(Plan, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(fault_of(R"({"id": "e", "rule": "luck", "callbacks": []})").substr(0, 51),
            "plan.json: executors[0].rule: \"luck\" is none of rea");
  EXPECT_EQ(fault_of(R"({"id": "e", "rule": "table", "callbacks": []})"),
            "plan.json: executors[0].table: missing; the slots that the rule goes by");
  EXPECT_EQ(fault_of(R"({"id": "e", "rule": "root_priority", "threads": 2, "callbacks": []})"),
            "plan.json: executors[0].threads: root_priority decides for one thread");
  const std::string timer = R"({"id": "a", "node": "/n", "kind": "timer", "period": 5})";
  EXPECT_EQ(
      fault_of(R"({"id": "e", "rule": "chain_deadline", "callbacks": [)" + timer +
               R"(], "chains": [{"callbacks": ["b"], "deadline": 5}]})"),
      "plan.json: executors[0].chains[0].callbacks[0]: \"b\" is no callback of this executor");
  EXPECT_EQ(
      fault_of(R"({"id": "e", "rule": "chain_deadline", "callbacks": [)" + timer +
               R"(], "chains": [{"callbacks": ["a", "a"], "deadline": 5}]})"),
      "plan.json: executors[0].chains: chains share a callback that is not the first of both");
  EXPECT_EQ(
      fault_of(R"({"id": "e", "rule": "deadline", "callbacks": [)"
               R"({"id": "a", "node": "/n", "kind": "timer"}]})"),
      "plan.json: executors[0].callbacks[0].period: missing; by their period timers are found");
}

std::string supply_fault(const std::string& supply) {
  return fault_of(R"({"id": "e", "rule": "priority", "callbacks": [], "supply": )" + supply + "}");
}

TEST(Plan, RefusesWhatIsNoSupply) {
  EXPECT_EQ(supply_fault(R"({"kind": "dedicated"})"), "");
  EXPECT_EQ(supply_fault(R"({"kind": "reservation", "budget": 1, "period": 2})"), "");
  EXPECT_EQ(
      supply_fault(R"({"kind": "reservaton", "budget": 1, "period": 2})"),
      "plan.json: executors[0].supply.kind: \"reservaton\" is none of dedicated, reservation, "
      "fixed_priority");
  EXPECT_EQ(
      supply_fault(R"({"budget": 1, "period": 2})"),
      "plan.json: executors[0].supply.kind: missing; dedicated, reservation or fixed_priority");
  EXPECT_EQ(supply_fault(R"({"kind": "fixed_priority", "priority": 99})"), "");
  for (const char* supply :
       {R"({"kind": "fixed_priority"})", R"({"kind": "fixed_priority", "priority": 0})",
        R"({"kind": "fixed_priority", "priority": 100})"}) {
    EXPECT_EQ(supply_fault(supply),
              "plan.json: executors[0].supply.priority: must be between 1 and 99");
  }
  for (const char* supply :
       {R"({"kind": "reservation", "budget": 1, "period": 2, "deadline": -1})",
        R"({"kind": "reservation", "budget": 2, "period": 3, "deadline": 1})",
        R"({"kind": "reservation", "budget": 1, "period": 2, "deadline": 3})"}) {
    EXPECT_EQ(supply_fault(supply),
              "plan.json: executors[0].supply: a reservation needs budget <= deadline <= period");
  }
}

TEST(Plan, RefusesWhatItWouldReadAsSomethingElse) {
  const std::string executor = R"("rule": "priority", "callbacks": [])";
  EXPECT_EQ(fault_of(R"({"id": "e", "cpu": 4294967296, )" + executor + "}"),
            "plan.json: executors[0].cpu: must be between 0 and 2147483647");
  EXPECT_EQ(fault_of(R"({"id": "e", "threads": 1025, )" + executor + "}"),
            "plan.json: executors[0].threads: must be between 1 and 1024");
  EXPECT_EQ(fault_of(R"({"id": "e", "own_origin": 1, )" + executor + "}"),
            "plan.json: executors[0].own_origin: must be true or false, is number");
  EXPECT_EQ(fault_of(R"({"id": "e", "rule": "priority", "callbacks": [
              {"id": "a", "node": "/n", "kind": "waitable", "root": "no"}]})"),
            "plan.json: executors[0].callbacks[0].root: must be true or false, is string");
  EXPECT_EQ(fault_of(R"({"id": "e", )" + executor + R"(}, {"id": "e", )" + executor + "}"),
            "plan.json: executors[1].id: \"e\" is the id of another executor");
  EXPECT_EQ(fault_of(R"({"id": "e", "rule": "priority", "callbacks": [
              {"id": "a", "node": "/n", "kind": "subscription", "topics": ["/a", "/b"],
               "ordinals": [1]}]})"),
            "plan.json: executors[0].callbacks[0].ordinals: must be 2, one for each topic");
}

TEST(Plan, WarnsOfWhatItDoesNotUseAndKeepsEarlierWarnings) {
  const auto plan = parse_plan(R"({"format": "takt/plan", "version": 1, "colour": "red",
      "warnings": ["mind the gap"],
      "executors": [{"id": "e", "rule": "priority", "prioritty": 3, "callbacks": []}]})",
                               "plan.json");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(
      plan->warnings,
      ElementsAre("mind the gap", "plan.json: executors[0].prioritty: unknown field, not used",
                  "plan.json: colour: unknown field, not used"));
}

TEST(Plan, IsWrittenWhateverItsTextsAre) {
  Plan plan = planned(camera_model());
  plan.provenance = "no JSON";
  plan.name = "\xff";
  const auto read = parse_plan(to_json(plan), "plan.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->provenance, "{}");
}

TEST(Plan, AskedOfSomethingElseNamesItself) {
  EXPECT_EQ(parse_plan("{", "x").error().message,
            "x: line 1, column 2: not valid JSON; is this a takt/plan document?");
}

TEST(Plan, HandsCallbackGroupsOver) {
  model::Model model = camera_model();
  model.callbacks[1].callback_group = "reentrant";
  const auto read = parse_plan(to_json(planned(model)), "plan.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->executors[0].callbacks[0].group, "");
  EXPECT_EQ(read->executors[0].callbacks[1].group, "reentrant");
}

TEST(Plan, RefusesSuppliesThatLinuxCannotGive) {
  model::Model model = camera_model();
  model.executors[0].supply =
      model::SlotSupply{.cycle = milliseconds(10), .slots = {{Duration{0}, milliseconds(5)}}};
  EXPECT_EQ(make_plan(model, std::nullopt, {}).error().message,
            "executor \"main\": its supply are slots, which Linux cannot give to a thread; give it "
            "a reservation, or leave \"supply\" out");
}

TEST(Plan, FindsTheExecutor) {
  const Plan plan = planned(camera_model());
  EXPECT_EQ((*find_executor(plan, ""))->id, "main");
  EXPECT_EQ((*find_executor(plan, "main"))->id, "main");
  EXPECT_EQ(find_executor(plan, "other").error().message,
            "the plan has no executor \"other\"; one of \"main\"");
}

}  // namespace
}  // namespace takt::plan
