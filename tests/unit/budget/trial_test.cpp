#include "trial.hpp"

#include <gtest/gtest.h>

#include "model_builder.hpp"
#include "takt/budget/search.hpp"

namespace takt::budget {
namespace {

using std::chrono::milliseconds;

TEST(Trial, CountsOnlyAnalysesOfSomethingNew) {
  model::ModelBuilder builder;
  const auto executor = builder.executor();
  const auto timer = builder.timer(executor, milliseconds{2}, model::every(milliseconds{50}));
  builder.chain({timer}, milliseconds{20});
  Trial trial(builder.model(), {});
  EXPECT_TRUE(trial.met(0));
  EXPECT_TRUE(trial.met(0));
  trial.set_budget(executor, trial.reservation(executor).budget);
  EXPECT_TRUE(trial.met(0));
  EXPECT_EQ(trial.analyses(), 1U);
  trial.set_budget(executor, trial.range(executor).least);
  EXPECT_FALSE(trial.met(0));
  EXPECT_FALSE(trial.met(0));
  EXPECT_EQ(trial.analyses(), 2U);
  trial.set_execution_time(timer, 50);
  static_cast<void>(trial.bounds());
  EXPECT_EQ(trial.analyses(), 3U);
}

}  // namespace
}  // namespace takt::budget
