#include <gtest/gtest.h>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/analysis/analyzer.hpp"

namespace takt::analysis {
namespace {

using model::ModelBuilder;

/// A timer of 1 that sleeps 40 in each instance, beside a subscription of 1.
ModelBuilder sleeper(model::Supply supply, std::int64_t times = 1) {
  ModelBuilder builder;
  const auto executor = builder.executor(supply);
  const auto timer = builder.timer(executor, Duration{1}, model::every(Duration{400}));
  builder.subscription(executor, Duration{1}, model::every(Duration{600}));
  builder.model().callbacks[timer.value()].suspension =
      model::Suspension{.curve = {Duration{40}}, .times = times};
  return builder;
}

Duration bound_of_subscription(const model::Model& model, Method method) {
  return analyze(model, {.method = method}).callbacks[1].bound.value_or(Duration{0});
}

/// The subscription waits for the timer, which ran and slept before it, and then runs for 1.
TEST(Suspension, CountsAsExecutionOnAProcessorOfItsOwn) {
  const model::Model sleeps = sleeper(model::DedicatedSupply{}).model();
  model::Model runs = sleeps;
  runs.callbacks[0].suspension.reset();
  runs.callbacks[0].execution_time = {Duration{41}};
  EXPECT_EQ(bound_of_subscription(sleeps, Method::exact), Duration{1 + 40 + 1});
  for (const Method method :
       {Method::round_robin, Method::busy_window, Method::combined, Method::tight, Method::exact}) {
    EXPECT_EQ(bound_of_subscription(sleeps, method), bound_of_subscription(runs, method));
  }
}

/// 2 in every 10, so 16 without supply at first and after each resumption. In the worst case the
/// timer waits 16, runs 1, sleeps 40, and at each of k resumptions waits 16 again; the last time
/// the subscription has the rest of the budget. The bound takes whole budgets for suspensions, and
/// so at most one period more.
TEST(Suspension, WaitsForSupplyAtEachResumption) {
  const model::ReservationSupply supply{Duration{2}, Duration{10}, Duration{10}};
  for (const std::int64_t times : {1, 2, 5}) {
    const Duration worst{16 + 1 + 40 + times * 16 + 1};
    const Duration bound = bound_of_subscription(sleeper(supply, times).model(), Method::combined);
    EXPECT_GE(bound, worst);
    EXPECT_LE(bound, worst + Duration{10});
  }
}

/// A timer every 20 with 5 in every 10: three waits in each instance would take 30 without supply
/// each time, which is more than there is. Three waits in one of many instances take them once.
TEST(Suspension, OfOneInstanceAmongManyIsChargedOnce) {
  const model::ReservationSupply supply{Duration{5}, Duration{10}, Duration{10}};
  const auto with = [&](std::vector<std::int64_t> times) {
    ModelBuilder builder;
    const auto executor = builder.executor(supply);
    const auto timer = builder.timer(executor, Duration{1}, model::every(Duration{20}));
    auto& suspension = builder.model().callbacks[timer.value()].suspension;
    suspension = model::Suspension{.curve = std::vector<Duration>(times.size(), Duration{2})};
    suspension->set_times(times);
    return analyze(builder.model(), {.method = Method::combined}).callbacks[0].bound;
  };
  EXPECT_EQ(with({3}), std::nullopt);
  const auto bound = with(std::vector<std::int64_t>(20, 3));
  ASSERT_TRUE(bound);
  EXPECT_GE(*bound, Duration{10 + 1 + 2 + 3 * 10});
  // The two that come meanwhile, and whole budgets for what is forgone.
  EXPECT_LE(*bound, Duration{10 + 1 + 2 + 3 * 10 + 2 + 10});
}

/// Time slots come whether or not the thread is ready, so it matters how long it sleeps only.
TEST(Suspension, OfSlotsForgoesNoMoreThanItsLength) {
  const model::SlotSupply slots{Duration{10}, {{Duration{0}, Duration{2}}}};
  EXPECT_EQ(bound_of_subscription(sleeper(slots, 1).model(), Method::combined),
            bound_of_subscription(sleeper(slots, 5).model(), Method::combined));
}

/// What a suspension costs depends on the budget: an analyzer whose budget changes finds what a new
/// one finds, and a larger budget never makes a bound larger.
TEST(Suspension, FollowsTheBudget) {
  model::Model model =
      sleeper(model::ReservationSupply{Duration{1}, Duration{10}, Duration{10}}, 2).model();
  Analyzer analyzer(model, {});
  Duration last = Duration::max();
  for (int budget = 1; budget <= 10; ++budget) {
    analyzer.set_budget(model::ExecutorIndex{0}, Duration{budget});
    std::get<model::ReservationSupply>(model.executors[0].supply).budget = Duration{budget};
    const auto bound = analyzer.bounds().callbacks[1].bound;
    ASSERT_TRUE(bound);
    EXPECT_EQ(*bound, bound_of_subscription(model, Method::combined)) << budget;
    EXPECT_LE(*bound, last) << budget;
    last = *bound;
  }
  EXPECT_EQ(last, Duration{1 + 40 + 1});
}

}  // namespace
}  // namespace takt::analysis
