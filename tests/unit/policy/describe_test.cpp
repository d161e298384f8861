#include "takt/policy/describe.hpp"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <string>

#include "takt/model/names.hpp"

namespace takt::policy {
namespace {

using model::CallbackIndex;
using model::CallbackKind;
using model::ExecutorIndex;
using model::ExecutorKind;
using scheduling::LocalIndex;
using scheduling::Rule;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Models whose callbacks are registered in the order in which they are added.
struct Builder {
  model::Model model;
  std::map<std::string, CallbackIndex> index;

  Builder() { executor("main"); }

  void executor(const std::string& id, ExecutorKind kind = ExecutorKind::events) {
    model::Executor& added = model.executors.emplace_back();
    added.id = id;
    added.kind = kind;
    added.order = model::CallbackOrder::registered;
  }

  model::Callback& callback(const std::string& id, CallbackKind kind,
                            std::optional<int> period = {}) {
    index[id] = CallbackIndex(model.callbacks.size());
    model::Callback& added = model.callbacks.emplace_back();
    added.id = id;
    added.node = "/" + id;
    added.kind = kind;
    added.executor = ExecutorIndex(model.executors.size() - 1);
    added.registration = static_cast<std::int64_t>(model.callbacks.size());
    added.execution_time = {Duration(1)};
    if (period) added.activation = model::PeriodicActivation{Duration(*period)};
    return added;
  }
  model::Callback& timer(const std::string& id, int period) {
    return callback(id, CallbackKind::timer, period);
  }
  model::Callback& subscription(const std::string& id, std::optional<int> period = {}) {
    return callback(id, CallbackKind::subscription, period);
  }
  void edge(const std::string& from, const std::string& to) {
    model::Edge& added = model.edges.emplace_back();
    added.from = index.at(from);
    added.to = index.at(to);
  }
  void chain(std::initializer_list<std::string> callbacks, std::optional<std::int64_t> rank = {}) {
    model::Chain& added = model.chains.emplace_back();
    for (const std::string& id : callbacks) added.callbacks.push_back(index.at(id));
    added.rank = rank;
  }

  [[nodiscard]] Description describe(ExecutorKind kind, const Options& options = {}) const {
    auto described = policy::describe(model, ExecutorIndex(0), kind, options);
    EXPECT_TRUE(described) << (described ? "" : described.error().message);
    return described ? *std::move(described) : Description{};
  }
  [[nodiscard]] std::string id(const Description& description, LocalIndex callback) const {
    return model[description.callbacks[callback.value()]].id;
  }
};

std::vector<bool> roots(const Description& description) {
  std::vector<bool> result;
  for (const auto& callback : description.policy.callbacks) result.push_back(callback.is_root);
  return result;
}

std::vector<std::int64_t> priorities(const Description& description) {
  std::vector<std::int64_t> result;
  for (const auto& callback : description.policy.callbacks) result.push_back(callback.priority);
  return result;
}

constexpr auto every_kind = std::to_array<ExecutorKind>({
#define TAKT_EXECUTOR_KIND(kind, traits, rules) ExecutorKind::kind,
#include "takt/base/executor_kinds.def"
#undef TAKT_EXECUTOR_KIND
});

TEST(Describe, EveryKindHasAPolicyThatRunsWhatIsReleased) {
  Builder b;
  b.timer("t", 10);
  Options options;
  options.tables["main"] = {.cycle = Duration(10), .slots = {{Duration(0), Duration(10), "t"}}};
  for (const ExecutorKind kind : every_kind) {
    const Description description = b.describe(kind, options);
    EXPECT_EQ(description.kind, kind);
    EXPECT_THAT(description.callbacks, ElementsAre(CallbackIndex(0))) << to_string(kind);
    EXPECT_THAT(description.warnings, IsEmpty());
    const auto policy = scheduling::make_policy(description.policy, 4);
    policy->release(LocalIndex(0), Instant{}, Instant{});
    EXPECT_EQ(policy->next(), LocalIndex(0)) << to_string(kind);
    const auto rule = description.policy.rule;
    EXPECT_EQ(scheduling::rule_from_string(scheduling::to_string(rule)), rule);
    EXPECT_EQ(model::from_string<ExecutorKind>(to_string(kind)), kind);
  }
  const auto table = describe(b.model, ExecutorIndex(0), ExecutorKind::table_driven);
  EXPECT_THAT(table.error().message,
              HasSubstr("executor \"main\" is table-driven: give its slots"));
}

TEST(Describe, RulesHaveNames) {
  EXPECT_FALSE(scheduling::rule_from_string("luck"));
  EXPECT_THAT(scheduling::rule_names(), HasSubstr("ready_set, first_released, priority, deadline"));
}

TEST(Describe, ACallbackWithAnActivationOfItsOwnBesideAnEdgeIsARoot) {
  Builder b;
  b.timer("t", 10).priority = 1;
  b.subscription("child");
  b.subscription("both", 50).priority = 9;
  b.subscription("elsewhere");
  b.edge("t", "child");
  b.edge("t", "both");
  b.edge("t", "elsewhere");
  b.executor("other");
  b.timer("u", 10);
  b.edge("u", "elsewhere");
  EXPECT_THAT(roots(b.describe(ExecutorKind::graph_aware)), ElementsAre(true, false, true, true));
}

TEST(Describe, AMessageThatTakesTimeMakesItsReceiverARoot) {
  Builder b;
  b.timer("t", 10);
  b.subscription("at_once");
  b.subscription("later");
  b.edge("t", "at_once");
  b.edge("t", "later");
  b.model.edges[1].delay = Duration(1);
  EXPECT_THAT(roots(b.describe(ExecutorKind::graph_aware)), ElementsAre(true, false, true));
}

TEST(Describe, ChildrenInheritARangeAndMayOvertake) {
  Builder b;
  b.timer("slow", 100).priority = 2;
  b.timer("fast", 10).priority = 7;
  b.subscription("child");
  b.subscription("grandchild");
  b.edge("child", "grandchild");
  b.edge("slow", "child");
  b.edge("fast", "child");
  const Description description = b.describe(ExecutorKind::graph_aware);
  EXPECT_EQ(description.policy.rule, Rule::root_priority);
  for (const std::size_t child : {2U, 3U}) {
    EXPECT_EQ(description.urgencies[child].least_priority, 2);
    EXPECT_EQ(description.urgencies[child].greatest_priority, 7);
    EXPECT_TRUE(description.urgencies[child].overtakes);
  }
  EXPECT_EQ(description.urgencies[1].least_priority, 7);
  EXPECT_FALSE(description.urgencies[1].overtakes);
}

TEST(Describe, DeadlinesAreInheritedFromEverySourceAndFromAnActivationBesideEdges) {
  Builder b;
  b.timer("slow", 100);
  b.timer("fast", 30).deadline = Duration(25);
  b.subscription("from_slow");
  b.subscription("from_both");
  b.subscription("own", 40);
  b.edge("slow", "from_slow");
  b.edge("slow", "from_both");
  b.edge("fast", "from_both");
  b.edge("slow", "own");
  Options inherited;
  inherited.edf_deadlines = EdfDeadlines::inherited;
  const Description description = b.describe(ExecutorKind::edf, inherited);
  std::vector<std::int64_t> deadlines;
  for (const Urgency& urgency : description.urgencies) {
    EXPECT_EQ(urgency.shortest_deadline, urgency.longest_deadline);
    deadlines.push_back(urgency.longest_deadline.count());
  }
  EXPECT_THAT(deadlines, ElementsAre(100, 25, 100, 25, 40));
  EXPECT_TRUE(description.by_deadline);
}

TEST(Describe, PrioritiesAreRateMonotonicIfTheModelGivesNone) {
  Builder b;
  b.timer("slow", 100);
  b.timer("fast", 10);
  b.subscription("from_slow");
  b.edge("slow", "from_slow");
  EXPECT_THAT(priorities(b.describe(ExecutorKind::fixed_priority)), ElementsAre(-100, -10, -100));
  b.model.callbacks[0].priority = 5;
  EXPECT_THAT(priorities(b.describe(ExecutorKind::fixed_priority)),
              ElementsAre(5, scheduling::PolicyDescription::least_priority, 5));
}

TEST(Describe, ChainsOfLowRankComeFirstAndLaterCallbacksBeforeEarlierOnes) {
  Builder b;
  b.timer("a", 10);
  b.timer("c", 10);
  b.timer("alone", 10);
  b.subscription("b");
  b.subscription("d");
  b.edge("a", "b");
  b.edge("c", "d");
  b.chain({"a", "b"});
  b.chain({"c", "d"}, 1);
  EXPECT_THAT(priorities(b.describe(ExecutorKind::chain_priority)), ElementsAre(1, 3, 0, 2, 4));
}

TEST(Describe, SegmentsThatOthersContainAreLeftOut) {
  Builder b;
  b.timer("a", 10);
  b.timer("alone", 10);
  b.subscription("b");
  b.subscription("c");
  b.edge("a", "b");
  b.edge("b", "c");
  b.chain({"b", "c"});
  b.chain({"a", "b", "c"});
  b.chain({"a", "b", "c"});
  const Description description = b.describe(ExecutorKind::edf);
  EXPECT_EQ(description.policy.rule, Rule::chain_deadline);
  ASSERT_EQ(description.policy.chains.size(), 2U);
  EXPECT_THAT(description.policy.chains[0].callbacks,
              ElementsAre(LocalIndex(0), LocalIndex(2), LocalIndex(3)));
  EXPECT_THAT(description.policy.chains[1].callbacks, ElementsAre(LocalIndex(1)));
  EXPECT_EQ(description.policy.chains[0].period, Duration(10));
  EXPECT_FALSE(description.activated_outside_chain);
}

TEST(Describe, ASegmentEndsWhereNotEveryInstanceLeadsOn) {
  Builder b;
  b.timer("a", 10);
  b.timer("x", 10);
  b.subscription("b");
  b.subscription("c");
  b.edge("a", "b");
  b.edge("x", "b");
  b.edge("b", "c");
  b.chain({"a", "b", "c"});
  EXPECT_EQ(b.describe(ExecutorKind::edf).policy.chains.size(), 2U) << "a b c, and x";
  b.model.edges[2].triggered_by = {{b.index.at("a"), b.index.at("x")}};
  EXPECT_EQ(b.describe(ExecutorKind::edf).policy.chains.size(), 2U) << "every activation of b";
  b.model.edges[2].triggered_by = {{b.index.at("a")}};
  EXPECT_EQ(b.describe(ExecutorKind::edf).policy.chains.size(), 3U) << "a b, x, and c";
  b.model.edges[0].triggered_by.emplace();
  EXPECT_EQ(b.describe(ExecutorKind::edf).policy.chains.size(), 4U) << "each alone";
}

TEST(Describe, ChainsThatShareMoreThanTheirFirstCallbackHaveNoInstances) {
  Builder b;
  b.timer("t", 10);
  b.timer("u", 10);
  b.subscription("shared");
  b.edge("t", "shared");
  b.edge("u", "shared");
  b.chain({"t", "shared"});
  b.chain({"u", "shared"});
  const Description description = b.describe(ExecutorKind::edf);
  EXPECT_EQ(description.policy.rule, Rule::deadline);
  EXPECT_THAT(description.policy.chains, IsEmpty());
  EXPECT_THAT(description.warnings,
              ElementsAre(HasSubstr("callback \"shared\" is in several chains")));
}

TEST(Describe, WhatIsActivatedBesideItsChainIsNamed) {
  Builder b;
  b.timer("a", 10);
  b.timer("x", 10);
  b.subscription("b");
  b.edge("a", "b");
  b.chain({"a", "b"});
  EXPECT_FALSE(b.describe(ExecutorKind::edf).activated_outside_chain);
  Builder with_activation = b;
  with_activation.model.callbacks[2].activation = model::PeriodicActivation{Duration(40)};
  EXPECT_EQ(with_activation.describe(ExecutorKind::edf).activated_outside_chain, CallbackIndex(2));
  b.edge("x", "b");
  EXPECT_EQ(b.describe(ExecutorKind::edf).activated_outside_chain, CallbackIndex(2));
}

TEST(Describe, GroupsExcludeByNodeUnlessTheModelNamesOthers) {
  Builder b;
  b.model.executors[0].threads = 3;
  for (const char* id : {"a", "b", "c", "d", "e"}) b.timer(id, 10);
  b.model.callbacks[1].node = "/a";
  b.model.callbacks[2].node = "/a";
  b.model.callbacks[2].callback_group = "reentrant";
  b.model.callbacks[3].callback_group = "x";
  b.model.callbacks[4].callback_group = "x";
  const Description description = b.describe(ExecutorKind::multi_threaded);
  EXPECT_EQ(description.threads, 3);
  EXPECT_THAT(description.groups.exclusive, ElementsAre(ElementsAre(LocalIndex(0), LocalIndex(1)),
                                                        ElementsAre(LocalIndex(3), LocalIndex(4))));
  EXPECT_THAT(description.groups.reentrant, ElementsAre(LocalIndex(2)));
}

TEST(Describe, KindsOfOneThreadSayThatTheyHaveOne) {
  Builder b;
  b.model.executors[0].threads = 3;
  b.timer("a", 10);
  const Description description = b.describe(ExecutorKind::events);
  EXPECT_EQ(description.threads, 1);
  EXPECT_THAT(description.warnings,
              ElementsAre("executor \"main\": runs with one thread instead of 3, as events "
                          "executors have"));
}

}  // namespace
}  // namespace takt::policy
