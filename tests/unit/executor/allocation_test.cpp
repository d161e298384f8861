#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "ros.hpp"
#include "takt/executor/events_executor.hpp"
#include "takt/executor/waitable.hpp"
#include "takt/scheduling/description.hpp"
#include "takt/test/counted_allocations.hpp"

namespace takt::executor {
namespace {

using scheduling::LocalIndex;
using scheduling::Rule;

constexpr std::size_t callbacks = 8;
constexpr std::size_t capacity = 64;

scheduling::PolicyDescription description(Rule rule) {
  scheduling::PolicyDescription described{.rule = rule};
  for (std::size_t i = 0; i < callbacks; ++i) {
    described.callbacks.push_back({.category = scheduling::Category::waitable,
                                   .priority = static_cast<std::int64_t>(i),
                                   .deadline = std::chrono::milliseconds(i + 1)});
  }
  described.cycle = std::chrono::milliseconds(1);
  described.slots = {{Duration{0}, described.cycle, LocalIndex(0)}};
  return described;
}

class Allocation : public RosTest, public testing::WithParamInterface<Rule> {};

TEST_P(Allocation, NoneFromAReleaseToTheEndOfItsCallback) {
  std::vector<std::unique_ptr<Waitable>> waitables;
  std::vector<ScheduledExecutable> executables;
  int runs = 0;
  for (std::size_t i = 0; i < callbacks; ++i) {
    waitables.push_back(must(Waitable::create(context_, "w", [&runs] { ++runs; })));
    executables.push_back({.executable = waitables.back().get(), .callback = LocalIndex(i)});
  }
  const auto executor = must(EventsExecutor::create(
      executables, scheduling::make_policy(description(GetParam()), capacity), callbacks, {}));
  // A table has slots for the first callback alone.
  const std::size_t triggered = GetParam() == Rule::table ? 1 : callbacks;
  const auto round = [&] {
    for (std::size_t i = 0; i < triggered; ++i) waitables[i]->trigger();
    for (std::size_t i = 0; i < triggered; ++i) {
      ASSERT_TRUE(must(executor->spin_once(std::chrono::seconds(10))));
    }
  };
  round();
  const long before = test::allocations;
  for (int i = 0; i < 100; ++i) round();
  EXPECT_EQ(test::allocations - before, 0);
  EXPECT_EQ(runs, 101 * static_cast<int>(triggered));
}

INSTANTIATE_TEST_SUITE_P(EveryRule, Allocation,
                         testing::Values(Rule::ready_set, Rule::first_released, Rule::priority,
                                         Rule::deadline, Rule::chain_deadline,
                                         Rule::frozen_chain_deadline, Rule::root_priority,
                                         Rule::root_deadline, Rule::table));

}  // namespace
}  // namespace takt::executor
