#include "takt/budget/plan.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "takt/analysis/analyze.hpp"
#include "takt/budget/search.hpp"

namespace takt::budget {

bool ReservationPlan::complete() const {
  return std::ranges::all_of(
      chains, [](const ChainPlan& chain) { return chain.state == ChainPlan::State::guaranteed; });
}

namespace {

/// With all that a core usually grants for each executor.
model::Model on_own_cores(model::Model model) {
  constexpr Duration period = default_period;
  const Duration budget = std::chrono::duration_cast<Duration>(period * Cores{}.capacity);
  for (model::Executor& executor : model.executors) {
    if (std::holds_alternative<model::SlotSupply>(executor.supply)) continue;
    executor.supply = model::ReservationSupply{budget, period, period};
    executor.cpu.reset();
  }
  return model;
}

}  // namespace

model::Model lossless(model::Model model) {
  model::Model holding = model;
  for (model::Callback& callback : holding.callbacks) callback.queue_depth.reset();
  if (holding == model) return model;
  const auto bounds_of = [](const model::Model& of) {
    return analysis::analyze(on_own_cores(of)).callbacks;
  };
  const auto has = [](const analysis::CallbackBound& each) { return each.bound.has_value(); };
  const auto without_loss = bounds_of(holding);
  if (std::ranges::all_of(without_loss, has)) return holding;
  const auto with_loss = bounds_of(model);
  std::set<model::ExecutorIndex> losing;
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    if (!has(without_loss[c]) && has(with_loss[c])) losing.insert(model.callbacks[c].executor);
  }
  const auto where = [&](const std::set<model::ExecutorIndex>& executors) {
    model::Model result = holding;
    for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
      const model::Callback& callback = model.callbacks[c];
      if (executors.contains(callback.executor)) {
        result.callbacks[c].queue_depth = callback.queue_depth;
      }
    }
    return result;
  };
  // An executor that receives from a losing one gets fewer messages, so it may keep up after all.
  for (const model::ExecutorIndex executor : std::set(losing)) {
    std::set<model::ExecutorIndex> fewer = losing;
    fewer.erase(executor);
    const auto bounds = bounds_of(where(fewer));
    const auto is_kept = [&](const analysis::CallbackBound& each) {
      return has(each) || !has(with_loss[static_cast<std::size_t>(&each - bounds.data())]);
    };
    if (std::ranges::all_of(bounds, is_kept)) losing = std::move(fewer);
  }
  return where(losing);
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
