#include "growth.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "../model_builder.hpp"
#include "least_supply.hpp"
#include "soundness.hpp"
#include "takt/generation/random.hpp"
#include "takt/generation/random_model.hpp"
#include "takt/model/json.hpp"

namespace takt::brute_force {
namespace {

using model::ExecutorKind;

TEST(LeastSupply, IsItsBoundIfNothingIsWanted) {
  const auto bound = curves::SupplyBound::reservation(Duration{3}, Duration{7}, Duration{5});
  LeastSupply supply(bound);
  Duration supplied{0};
  for (Duration t{0}; t < Duration{100}; ++t) {
    EXPECT_EQ(supplied, bound.supply(t));
    if (supply.next(false)) ++supplied;
  }
}

TEST(LeastSupply, KeepsToItsBoundInEachWindowWhateverIsWanted) {
  generation::Random random(1);
  for (int n = 0; n < 50; ++n) {
    const auto period = random.between(2, 12);
    const auto deadline = random.between(1, period);
    const auto budget = random.between(1, deadline);
    const auto bound =
        curves::SupplyBound::reservation(Duration{budget}, Duration{period}, Duration{deadline});
    LeastSupply supply(bound);
    std::vector<std::int64_t> supplied{0};
    while (supplied.size() < 200) {
      supplied.push_back(supplied.back() + (supply.next(random.chance(20)) ? 1 : 0));
      for (std::size_t start = 0; start < supplied.size(); ++start) {
        const Duration window{static_cast<std::int64_t>(supplied.size() - 1 - start)};
        ASSERT_GE(supplied.back() - supplied[start], bound.supply(window).count());
      }
    }
  }
}

/// Two threads of 6 in every 10, and a group with an instance of 2 in every period: the example of
/// docs/analysis-theory.md.
model::Model handed_to_and_fro(std::int64_t period) {
  model::ModelBuilder builder;
  const auto executor =
      builder.executor(model::ReservationSupply{Duration{6}, Duration{10}, Duration{10}},
                       ExecutorKind::multi_threaded);
  builder.model().executors[0].threads = 2;
  builder.timer(executor, Duration{2}, model::every(Duration{period}));
  builder.model().callbacks[0].node = "a";
  return builder.model();
}

TEST(Growth, OfAGroupThatThreadsHandToAndFro) {
  const model::Model model = handed_to_and_fro(9);
  const auto growth = find_growth(model, 1, 1);
  ASSERT_TRUE(growth.has_value());
  EXPECT_EQ(growth->callback, model::CallbackIndex{0});
  // An instance is activated in every 9, and one ends in every 10.
  Choices choices = growth->choices;
  const Scheduler scheduler(model, Sending::at_most_once, Supplying::bounds);
  const auto waiting = scheduler.waiting(choices, 90 * static_cast<std::int64_t>(stretches));
  for (std::size_t n = 1; n < stretches; ++n) EXPECT_EQ(waiting[n][0], waiting[n - 1][0] + 1);
}

TEST(Growth, EndsWhereThereIsABound) {
  EXPECT_FALSE(find_growth(handed_to_and_fro(11), 30, 1).has_value());
}

TEST(Growth, OnAFinerClockAllTimesAreLonger) {
  const model::Model model = on_finer_clock(handed_to_and_fro(9), 3);
  const auto& supply = std::get<model::ReservationSupply>(model.executors[0].supply);
  EXPECT_EQ(supply.budget, Duration{18});
  EXPECT_EQ(model.callbacks[0].execution_time.front(), Duration{6});
  const auto& activation = std::get<model::PeriodicActivation>(*model.callbacks[0].activation);
  EXPECT_EQ(activation.period, Duration{27});
}

/// Of no callback with a bound, whose instances would wait longer and longer. Of many others.
TEST(Growth, IsFoundOnlyWhereThereIsNoBound) {
  const generation::Shape shape{.most_callbacks = 5,
                                .shortest_period = Duration{10},
                                .longest_period = Duration{40},
                                .most_utilisation = 80,
                                .kinds = ExecutorKind::multi_threaded,
                                .most_threads = 3,
                                .reservation = 100,
                                .privileged = 0};
  const char* hunt = std::getenv("TAKT_SOUNDNESS_MODELS");
  const int models = hunt == nullptr ? 300 : std::atoi(hunt);
  constexpr int tries = 4;
  int unbounded = 0;
  int growing = 0;
  for (int seed = 1; seed <= models; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const model::Model model = on_finer_clock(generation::random_model(shape, number), 2);
    const auto bounds = analysis::analyze(model, options(analysis::Method::combined));
    const auto growth = find_growth(model, tries, number);
    unbounded += !bounds.converged;
    growing += growth.has_value();
    if (!growth) continue;
    EXPECT_FALSE(bounds.callbacks[growth->callback.value()].bound.has_value())
        << seed << ": " << model::to_json(model);
  }
  EXPECT_GT(growing, unbounded / 2) << "too few are found to show anything";
}

}  // namespace
}  // namespace takt::brute_force
