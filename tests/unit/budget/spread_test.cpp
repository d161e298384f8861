#include "takt/budget/spread.hpp"

#include <gmock/gmock.h>

#include "milliseconds.hpp"
#include "model_builder.hpp"
#include "takt/budget/search.hpp"

namespace takt::budget {
namespace {

using model::ModelBuilder;

/// Two timers on executors of their own, of 2 and 4 ms in every 50 ms.
model::Model two_timers() {
  ModelBuilder builder;
  for (const Duration cost : {ms(2), ms(4)}) {
    const auto executor = builder.executor();
    builder.chain({builder.timer(executor, cost, model::every(ms(50)))}, ms(60));
  }
  return builder.model();
}

double share(const Reservation& reservation) {
  return static_cast<double>(reservation.budget.count()) /
         static_cast<double>(reservation.period.count());
}

TEST(Spread, FillsTheCapacityInProportion) {
  const model::Model model = two_timers();
  Options options{.cores = {.numbers = {0}, .capacity = 0.9}};
  const ReservationPlan plan = search(model, options).value();
  ASSERT_TRUE(plan.complete());
  ASSERT_EQ(plan.reservations.size(), 2U);
  options.cores.capacity = 0.6;
  const auto more = spread(model, plan, options.cores);
  const double sum = share(more[0]) + share(more[1]);
  EXPECT_LE(sum, 0.6 + 1e-9);
  // Factors and budgets are multiples of a hundredth and of a thousandth of the period.
  EXPECT_GE(sum, 0.6 - 0.01 * (share(plan.reservations[0]) + share(plan.reservations[1])) - 0.002);
  EXPECT_NEAR(share(more[0]) / share(more[1]),
              share(plan.reservations[0]) / share(plan.reservations[1]), 0.02);
}

TEST(Spread, TakesNothingAwayAndNeverMoreThanACore) {
  const model::Model model = two_timers();
  const Options options{.cores = {.numbers = {0, 1, 2, 3}, .capacity = 0.9}};
  const ReservationPlan plan = search(model, options).value();
  Cores tight = options.cores;
  tight.capacity = 0.01;
  const auto same = spread(model, plan, tight);
  const auto most = spread(model, plan, options.cores);
  for (std::size_t i = 0; i < plan.reservations.size(); ++i) {
    EXPECT_EQ(same[i].budget, plan.reservations[i].budget);
    EXPECT_GE(most[i].budget, plan.reservations[i].budget);
    EXPECT_LE(share(most[i]), 0.9);
  }
}

TEST(Spread, KeepsEachReservationOnItsCore) {
  const model::Model model = two_timers();
  ReservationPlan plan = search(model, {.cores = {.numbers = {0, 1}, .capacity = 0.9}}).value();
  plan.mapping = Mapping::Kind::partitioned;
  plan.reservations[0].core = 1;
  plan.reservations[1].core = 1;
  const auto more = spread(model, plan, {.numbers = {0, 1}, .capacity = 0.9});
  EXPECT_LE(share(more[0]) + share(more[1]), 0.9 + 1e-9);
  EXPECT_EQ(more[0].core, 1);
}

}  // namespace
}  // namespace takt::budget
