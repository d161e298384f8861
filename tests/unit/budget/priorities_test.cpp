#include "takt/budget/priorities.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "milliseconds.hpp"
#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/budget/change.hpp"
#include "takt/generation/random_model.hpp"

namespace takt::budget {
namespace {

using model::CallbackIndex;
using model::Model;
using model::ModelBuilder;

constexpr std::int64_t effort = 1'000'000'000;

const PriorityAssignment& of(PriorityRule rule, const std::vector<PriorityAssignment>& all) {
  return *std::ranges::find(all, rule, &PriorityAssignment::rule);
}

std::vector<PriorityAssignment> assigned(const Model& model, std::int64_t steps = effort) {
  return assign_priorities(model, {}, steps).value();
}

std::size_t guaranteed(const Model& model) {
  const auto bounds = analysis::analyze(model);
  return static_cast<std::size_t>(std::ranges::count_if(
      bounds.chains, [](const analysis::ChainBound& chain) { return chain.met() == true; }));
}

/// Two fast timers that have time, and a slow one that has none.
Model urgent_but_slow() {
  ModelBuilder builder;
  const auto executor = builder.executor();
  builder.chain({builder.timer(executor, ms(4), model::every(ms(20)))}, ms(19));
  builder.chain({builder.timer(executor, ms(4), model::every(ms(20)))}, ms(19));
  // One callback that has begun may go before it, but not two.
  builder.chain({builder.timer(executor, ms(4), model::every(ms(100)))}, ms(9));
  return builder.model();
}

TEST(Priorities, GoByDeadlinesAndNotByRates) {
  const auto all = assigned(urgent_but_slow());
  EXPECT_EQ(of(PriorityRule::rate_monotonic, all).guaranteed, 2U);
  EXPECT_EQ(of(PriorityRule::deadline_monotonic, all).guaranteed, 3U);
  EXPECT_EQ(of(PriorityRule::audsley, all).guaranteed, 3U);
  EXPECT_EQ(best(all).rule, PriorityRule::deadline_monotonic);
  const Model& model = of(PriorityRule::deadline_monotonic, all).model;
  EXPECT_EQ(model.executors[0].kind, model::ExecutorKind::fixed_priority);
  EXPECT_GT(model.callbacks[2].priority, model.callbacks[0].priority);
}

TEST(Priorities, DeclaredOnesAreAmongThemAndKept) {
  Model model = urgent_but_slow();
  EXPECT_TRUE(std::ranges::none_of(
      assigned(model), [](const auto& one) { return one.rule == PriorityRule::declared; }));
  model.callbacks[2].priority = 5;
  const auto all = assigned(model);
  EXPECT_EQ(all.front().rule, PriorityRule::declared);
  EXPECT_EQ(all.front().guaranteed, 3U);
  EXPECT_EQ(all.front().model.callbacks[2].priority, 5);
  EXPECT_EQ(of(PriorityRule::rate_monotonic, all).guaranteed, 2U);
}

TEST(Priorities, DeadlinesAreThoseOfTheMostUrgentChain) {
  ModelBuilder builder;
  const auto executor = builder.executor();
  const auto shared = builder.timer(executor, ms(1), model::every(ms(50)));
  const auto first = builder.subscription(executor, ms(1));
  const auto second = builder.subscription(executor, ms(1));
  builder.edge(shared, first);
  builder.edge(shared, second);
  const auto alone = builder.timer(executor, ms(1), model::every(ms(70)));
  builder.chain({shared, first}, ms(30));
  builder.chain({shared, second}, ms(20));
  const auto deadlines = callback_deadlines(builder.model());
  EXPECT_EQ(deadlines[shared.value()], ms(20));
  EXPECT_EQ(deadlines[first.value()], ms(30));
  EXPECT_EQ(deadlines[alone.value()], ms(70));
}

TEST(Priorities, WhatTheyGuaranteeIsWhatTheAnalysisSays) {
  for (const PriorityAssignment& one : assigned(urgent_but_slow())) {
    EXPECT_EQ(guaranteed(one.model), one.guaranteed) << to_string(one.rule);
  }
}

/// Of a few callbacks on one executor, with goals that some orders keep and others do not.
Model random_goals(std::uint64_t seed) {
  generation::Shape shape;
  shape.kinds = model::ExecutorKind::fixed_priority;
  shape.fewest_callbacks = 3;
  shape.most_callbacks = 6;
  shape.most_chains = 4;
  shape.shortest_period = ms(20);
  shape.longest_period = ms(200);
  shape.reservation = 20;
  Model model = generation::random_model(shape, seed);
  std::mt19937_64 random(seed);
  const auto bounds = analysis::analyze(model);
  for (std::size_t c = 0; c < model.chains.size(); ++c) {
    const Duration bound = bounds.chains[c].bound.value_or(ms(200));
    model.chains[c].kind = model::GoalKind::latency;
    model.chains[c].goal =
        std::max(epsilon, bound * std::uniform_int_distribution<int>(40, 105)(random) / 100);
  }
  return model;
}

/// The most chains that any order of the executor's callbacks guarantees, by trying all.
std::size_t most_of_all_orders(Model model) {
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    if (!has(model[model.callbacks[c].executor].kind, model::ExecutorTrait::outside_ros)) {
      order.push_back(c);
    }
  }
  std::size_t most = 0;
  do {
    for (std::size_t i = 0; i < order.size(); ++i) {
      model.callbacks[order[i]].priority = static_cast<std::int64_t>(i);
    }
    most = std::max(most, guaranteed(model));
  } while (std::ranges::next_permutation(order).found && most < model.chains.size());
  return most;
}

TEST(Priorities, AudsleyGuaranteesAtLeastAsManyChainsAsAnyOrder) {
  const char* const wanted = std::getenv("TAKT_ORDERS");
  const std::uint64_t models = wanted == nullptr ? 25 : std::stoull(wanted);
  std::size_t with_goals = 0;
  std::size_t better = 0;
  for (std::uint64_t seed = 0; with_goals < models; ++seed) {
    const Model model = random_goals(seed);
    if (model.chains.empty()) continue;
    ++with_goals;
    const auto all = assigned(model);
    const PriorityAssignment& audsley = of(PriorityRule::audsley, all);
    std::size_t others = 0;
    for (const PriorityAssignment& one : all) {
      EXPECT_GE(audsley.guaranteed, one.guaranteed) << "seed " << seed << to_string(one.rule);
      if (one.rule != PriorityRule::audsley) others = std::max(others, one.guaranteed);
    }
    better += audsley.guaranteed > others ? 1 : 0;
    EXPECT_EQ(guaranteed(audsley.model), audsley.guaranteed) << "seed " << seed;
    EXPECT_GE(audsley.guaranteed, most_of_all_orders(model)) << "seed " << seed;
  }
  // Otherwise the models would show nothing.
  EXPECT_GT(better, 0U);
  RecordProperty("better_than_all_rules", static_cast<int>(better));
}

TEST(Priorities, AreAssignedOnAllExecutorsWithinTheEffort) {
  generation::Shape shape;
  shape.kinds = model::ExecutorKind::fixed_priority;
  shape.fewest_executors = shape.most_executors = 3;
  shape.fewest_callbacks = shape.most_callbacks = 30;
  shape.most_chains = 6;
  shape.shortest_period = ms(20);
  shape.longest_period = ms(200);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Model model = generation::random_model(shape, seed);
    if (model.chains.empty()) continue;
    for (model::Chain& chain : model.chains) {
      chain.kind = model::GoalKind::latency;
      chain.goal = ms(60);
    }
    const auto all = assigned(model, 20'000'000);
    std::set<std::int64_t> priorities;
    std::size_t ordered = 0;
    const Model& found = of(PriorityRule::audsley, all).model;
    for (const model::Callback& callback : found.callbacks) {
      if (has(found[callback.executor].kind, model::ExecutorTrait::outside_ros)) continue;
      ++ordered;
      if (callback.priority) priorities.insert(*callback.priority);
    }
    EXPECT_EQ(best(all).guaranteed, of(PriorityRule::audsley, all).guaranteed);
    // Of the rates, which an executor goes by without priorities, none is written.
    EXPECT_THAT(priorities.size(), testing::AnyOf(0U, ordered));
  }
}

}  // namespace
}  // namespace takt::budget
