#include "takt/budget/best_period.hpp"

#include <gmock/gmock.h>

#include "milliseconds.hpp"
#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"

namespace takt::budget {
namespace {

using model::ModelBuilder;

model::Model timer(Duration cost, Duration period, Duration goal) {
  ModelBuilder builder;
  builder.chain({builder.timer(builder.executor(), cost, model::every(period))}, goal);
  return builder.model();
}

double share_with_cost(const ReservationPlan& plan) {
  const Reservation& reservation = plan.reservations.at(0);
  return static_cast<double>((reservation.budget + Duration{cost_of_a_period}).count()) /
         static_cast<double>(reservation.period.count());
}

TEST(BestPeriod, TakesLeastOfTheProcessors) {
  for (const Duration goal : {ms(15), ms(40), ms(90)}) {
    const model::Model model = timer(ms(5), ms(100), goal);
    const Options options{.cores = {.numbers = {0}, .capacity = 0.9}};
    const ReservationPlan best = search_with_best_period(model, options).value();
    ASSERT_TRUE(best.complete());
    ASSERT_TRUE(best.period.has_value());
    std::size_t analyses = 0;
    EXPECT_EQ(best.reservations[0].period, *best.period);
    for (const Duration period : periods) {
      Options with = options;
      with.period = period;
      const ReservationPlan other = search(model, with).value();
      analyses += other.analyses;
      if (!other.complete()) continue;
      EXPECT_LE(share_with_cost(best), share_with_cost(other) + 1e-12) << period.count();
    }
    EXPECT_EQ(best.analyses, analyses) << "each period is searched once";
  }
}

// With long periods a goal of 6 ms would take a whole core.
TEST(BestPeriod, GuaranteesWhatAFixedOneDoesNot) {
  const model::Model model = timer(ms(1), ms(100), ms(6));
  Options options{.cores = {.numbers = {0}, .capacity = 0.5}};
  options.period = ms(20);
  EXPECT_FALSE(search(model, options)->complete());
  EXPECT_TRUE(search_with_best_period(model, options)->complete());
}

}  // namespace
}  // namespace takt::budget
