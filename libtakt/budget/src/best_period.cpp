#include "takt/budget/best_period.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/budget/needs.hpp"

namespace takt::budget {

namespace {

std::size_t guaranteed(const ReservationPlan& plan) {
  return static_cast<std::size_t>(
      std::ranges::count(plan.chains, ChainPlan::State::guaranteed, &ChainPlan::state));
}

/// The share of a core that the reservations and the kernel's work for them take.
double cost(const model::Model& model, const ReservationPlan& plan) {
  double sum = 0;
  for (const Reservation& reservation : plan.reservations) {
    const Duration used = reservation.budget + Duration{cost_of_a_period};
    sum += static_cast<double>(model[reservation.executor].threads) *
           static_cast<double>(used.count()) / static_cast<double>(reservation.period.count());
  }
  return sum;
}

}  // namespace

Result<ReservationPlan> search_with_best_period(const model::Model& model, Options options) {
  const bool find_needs = std::exchange(options.find_needs, false);
  const auto begin = std::chrono::steady_clock::now();
  ReservationPlan best;
  std::optional<std::pair<std::size_t, double>> best_rank;
  std::size_t analyses = 0;
  const std::int64_t given = options.effort;
  std::int64_t left = given;
  bool gave_up = false;
  for (std::size_t i = 0; i < std::size(periods); ++i) {
    const Duration period = periods[i];
    options.period = period;
    options.effort = left / static_cast<std::int64_t>(std::size(periods) - i);
    auto plan = TAKT_TRY(search(model, options));
    analyses += plan.analyses;
    left = std::max<std::int64_t>(left - plan.steps, 0);
    gave_up = gave_up || plan.gave_up;
    const std::pair rank{guaranteed(plan), -cost(model, plan)};
    if (best_rank && rank <= *best_rank) continue;
    best = std::move(plan);
    best.period = period;
    best_rank = rank;
  }
  options.period = best.period;
  options.effort = left;
  options.analysis.effort = std::clamp<std::int64_t>(left, 1, options.analysis.effort);
  best.steps = given - left;
  best.gave_up = gave_up;
  if (find_needs) add_needs(model, options, best);
  best.analyses = analyses;
  best.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return best;
}

}  // namespace takt::budget
