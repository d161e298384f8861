#include "takt/budget/spread.hpp"

#include <algorithm>
#include <cstdint>

#include "takt/budget/search.hpp"

namespace takt::budget {

namespace {

/// The factor 1: factors are counted in hundredths.
constexpr std::int64_t one = 100;

/// The budget times factor / one, a multiple of its granularity, and within a core.
Duration grown(const Reservation& reservation, std::int64_t factor, double capacity) {
  const Duration unit = granularity(reservation.period);
  const Duration wanted = reservation.budget * factor / one / unit * unit;
  const Duration most{
      static_cast<std::int64_t>(capacity * static_cast<double>(reservation.deadline.count()))};
  return std::max(std::min(wanted, most / unit * unit), reservation.budget);
}

std::vector<Reservation> grown(std::vector<Reservation> reservations, std::int64_t factor,
                               double capacity) {
  for (Reservation& reservation : reservations) {
    reservation.budget = grown(reservation, factor, capacity);
  }
  return reservations;
}

std::vector<Load> loads_of(const model::Model& model,
                           const std::vector<Reservation>& reservations) {
  std::vector<Load> loads;
  for (const Reservation& reservation : reservations) {
    loads.push_back({.density = static_cast<double>(reservation.budget.count()) /
                                static_cast<double>(reservation.deadline.count()),
                     .threads = static_cast<int>(model[reservation.executor].threads),
                     .core = reservation.core});
  }
  return loads;
}

}  // namespace

std::vector<Reservation> spread(const model::Model& model, const ReservationPlan& plan,
                                const Cores& cores) {
  const auto at = [&](std::int64_t factor) {
    return grown(plan.reservations, factor, cores.capacity);
  };
  const auto fits = [&](std::int64_t factor) {
    const auto mapping = map_to_cores(loads_of(model, at(factor)), cores);
    return mapping && mapping->kind == plan.mapping;
  };
  // With this factor each reservation has a whole core; a larger one changes nothing.
  std::int64_t high = one;
  for (const Reservation& reservation : plan.reservations) {
    high = std::max<std::int64_t>(high, reservation.deadline * one / reservation.budget);
  }
  std::int64_t low = one;
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return at(low);
}

}  // namespace takt::budget
