#include "takt/budget/plan.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace takt::budget {

bool ReservationPlan::complete() const {
  return std::ranges::all_of(
      chains, [](const ChainPlan& chain) { return chain.state == ChainPlan::State::guaranteed; });
}

model::Model lossless(model::Model model) {
  for (model::Callback& callback : model.callbacks) callback.queue_depth.reset();
  return model;
}

model::Model with_reservations(model::Model model, const ReservationPlan& plan) {
  for (model::Executor& executor : model.executors) {
    if (std::holds_alternative<model::SlotSupply>(executor.supply)) continue;
    executor.supply = model::DedicatedSupply{};
  }
  for (const Reservation& reservation : plan.reservations) {
    model::Executor& executor = model.executors[reservation.executor.value()];
    executor.supply =
        model::ReservationSupply{reservation.budget, reservation.period, reservation.deadline};
    if (reservation.core) executor.cpu = *reservation.core;
  }
  return model;
}

}  // namespace takt::budget
