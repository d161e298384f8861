#include "takt/budget/remedy.hpp"

#include <gtest/gtest.h>

#include "milliseconds.hpp"
#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"

namespace takt::budget {
namespace {

using model::ExecutorKind;
using model::ModelBuilder;

std::string cheapest(const model::Model& model) {
  const auto remedy = cheapest_remedy(model, 0);
  if (!remedy) return "none";
  model::Model changed = model;
  EXPECT_TRUE(apply(remedy->change, changed));
  const auto chain = analysis::analyze(changed).chains[0];
  EXPECT_TRUE(chain.met().value());
  EXPECT_EQ(chain.bound, remedy->bound);
  return to_string(remedy->change, model);
}

/// A quick callback and a slow one, each every 100 ms, on one executor.
class TwoCallbacks {
 public:
  TwoCallbacks(ExecutorKind kind, Duration goal, const model::Supply& supply = {}) {
    const auto e = builder_.executor(supply, kind);
    const auto quick = builder_.subscription(e, ms(3), model::every(ms(100)));
    builder_.subscription(e, ms(20), model::every(ms(90)));
    builder_.subscription(e, ms(20), model::every(ms(80)));
    builder_.chain({quick}, goal);
  }
  model::Model& model() { return builder_.model(); }

 private:
  ModelBuilder builder_;
};

TEST(Remedy, IsNotWantedWhereTheGoalIsMet) {
  EXPECT_EQ(cheapest(TwoCallbacks(ExecutorKind::single_threaded, ms(100)).model()), "none");
}

TEST(Remedy, IsAPriorityIfThatWillDo) {
  TwoCallbacks callbacks(ExecutorKind::fixed_priority, ms(25));
  for (std::size_t c = 0; c < 3; ++c) {
    callbacks.model().callbacks[c].priority = static_cast<std::int64_t>(c);
  }
  EXPECT_EQ(cheapest(callbacks.model()), "priority(c0)=3");
}

TEST(Remedy, IsTheLeastBudgetThatSuffices) {
  const model::ReservationSupply supply{ms(5), ms(10), ms(10)};
  model::Model model = TwoCallbacks(ExecutorKind::single_threaded, ms(60), supply).model();
  const auto remedy = cheapest_remedy(model, 0);
  ASSERT_TRUE(remedy);
  const auto budget = std::get<NewBudget>(remedy->change).budget;
  EXPECT_LE(remedy->bound, ms(60));
  std::get<model::ReservationSupply>(model.executors[0].supply).budget = budget - ms(1) / 100;
  EXPECT_GT(analysis::analyze(model).chains[0].bound, ms(60));
}

/// Two reservations of one processor: no budget may take what the other one has.
TEST(Remedy, LeavesReservationsOfTheSameProcessorWhatTheyHave) {
  const model::ReservationSupply supply{ms(5), ms(10), ms(10)};
  TwoCallbacks callbacks(ExecutorKind::single_threaded, ms(60), supply);
  model::Model& model = callbacks.model();
  model.executors.push_back(model.executors[0]);
  model.executors[1].id = "other";
  model.executors[0].cpu = model.executors[1].cpu = 0;
  EXPECT_EQ(cheapest(model).find("budget"), std::string::npos);
}

TEST(Remedy, IsAnotherKindOfExecutorElse) {
  // By deadlines the chain goes first, after one other callback.
  TwoCallbacks callbacks(ExecutorKind::single_threaded, ms(25));
  callbacks.model().callbacks[0].deadline = ms(10);
  EXPECT_EQ(cheapest(callbacks.model()), "executor(e0)=edf");
}

TEST(Remedy, IsAnExecutorOfItsOwnAtLast) {
  EXPECT_EQ(cheapest(TwoCallbacks(ExecutorKind::single_threaded, ms(5)).model()), "split(c0)");
}

TEST(Remedy, IsNoneWhereOneChangeIsNotEnough) {
  EXPECT_EQ(cheapest(TwoCallbacks(ExecutorKind::single_threaded, ms(2)).model()), "none");
}

/// What another chain has is not given away.
TEST(Remedy, LosesNoOtherGoal) {
  TwoCallbacks callbacks(ExecutorKind::fixed_priority, ms(25));
  model::Model& model = callbacks.model();
  for (std::size_t c = 0; c < 3; ++c) {
    model.callbacks[c].priority = static_cast<std::int64_t>(c);
  }
  const Duration present = *analysis::analyze(model).callbacks[2].bound;
  model::Chain& jealous = model.chains.emplace_back();
  jealous.id = "jealous";
  jealous.callbacks = {model::CallbackIndex{2}};
  jealous.goal = present;
  EXPECT_EQ(cheapest(model).find("priority(c0)"), std::string::npos);
}

}  // namespace
}  // namespace takt::budget
