#include "takt/budget/sensitivity.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "model_builder.hpp"

namespace takt::budget {
namespace {

using model::ModelBuilder;

/// A timer and a subscription in a chain on a reservation, beside another timer.
model::Model chain_with_goal(std::optional<Duration> goal) {
  ModelBuilder builder;
  const auto e =
      builder.executor(model::ReservationSupply{Duration{60}, Duration{100}, Duration{100}});
  const auto first = builder.timer(e, Duration{50}, model::every(Duration{10'000}));
  const auto second = builder.subscription(e, Duration{70});
  builder.timer(e, Duration{30}, model::every(Duration{5'000}));
  builder.chain({first, second}, goal);
  return builder.model();
}

TEST(Sensitivity, GrowthAndBudgetAreTheLastThatMeetTheGoal) {
  const auto model = chain_with_goal(Duration{600});
  const Sensitivity result = sensitivity(model);
  ASSERT_TRUE(result.met);
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    const Duration growth = result.callbacks[c].growth;
    EXPECT_EQ(result.callbacks[c].id, model.callbacks[c].id);
    auto changed = model;
    changed.callbacks[c].execution_time[0] += growth;
    EXPECT_TRUE(*analysis::analyze(changed).chains[0].met());
    changed.callbacks[c].execution_time[0] += epsilon;
    EXPECT_FALSE(*analysis::analyze(changed).chains[0].met());
  }
  ASSERT_EQ(result.executors.size(), 1U);
  auto changed = model;
  auto& supply = std::get<model::ReservationSupply>(changed.executors[0].supply);
  supply.budget = result.executors[0].smallest_budget;
  EXPECT_TRUE(*analysis::analyze(changed).chains[0].met());
  supply.budget -= epsilon;
  EXPECT_FALSE(*analysis::analyze(changed).chains[0].met());
}

TEST(Sensitivity, GoalMissedAlready) {
  const Sensitivity result = sensitivity(chain_with_goal(Duration{100}));
  EXPECT_FALSE(result.met);
  EXPECT_TRUE(result.callbacks.empty());
}

TEST(Sensitivity, WithoutGoalsBoundsMustExist) {
  const Sensitivity result =
      sensitivity(chain_with_goal(std::nullopt),
                  {.method = analysis::Method::busy_window, .horizon = Duration{1'000'000}});
  ASSERT_TRUE(result.met);
  // Utilisation stays below 0.6: 120/10000 + (30 + x)/5000 < 0.6.
  EXPECT_NEAR(static_cast<double>(result.callbacks[2].growth.count()), 2910, 20);
}

TEST(Sensitivity, DocumentNamesItsFormat) {
  const auto document =
      nlohmann::json::parse(sensitivity(chain_with_goal(Duration{600})).to_json());
  EXPECT_EQ(document["format"], "takt/sensitivity");
  EXPECT_EQ(document["met"], true);
  EXPECT_EQ(document["callbacks"].size(), 3U);
  EXPECT_EQ(document["executors"][0]["budget"], 60);
}

}  // namespace
}  // namespace takt::budget
