#include "takt/generation/load.hpp"

#include <variant>

namespace takt::generation {

double rate(const model::Activation& activation) {
  if (const auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
    return 1.0 / static_cast<double>(periodic->period.count());
  }
  if (const auto* sporadic = std::get_if<model::SporadicActivation>(&activation)) {
    return 1.0 / static_cast<double>(sporadic->min_separation.count());
  }
  const auto& values = std::get<model::MinDistanceActivation>(activation).values;
  return static_cast<double>(values.size() - 1) / static_cast<double>(values.back().count());
}

double bandwidth(const model::Supply& supply) {
  if (const auto* reservation = std::get_if<model::ReservationSupply>(&supply)) {
    return static_cast<double>(reservation->budget.count()) /
           static_cast<double>(reservation->period.count());
  }
  if (const auto* slots = std::get_if<model::SlotSupply>(&supply)) {
    Duration supplied{0};
    for (const model::Slot& slot : slots->slots) supplied += slot.end - slot.start;
    return static_cast<double>(supplied.count()) / static_cast<double>(slots->cycle.count());
  }
  return 1;
}

}  // namespace takt::generation
