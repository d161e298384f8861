#include "table_driven_executor.hpp"

#include <algorithm>

#include "least_solution.hpp"
#include "offset_search.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;
using curves::SupplyBound;
using curves::unbounded_time;

TableDrivenExecutor::TableDrivenExecutor(const Round& round, ExecutorIndex executor)
    : ExecutorAnalysis(round, executor) {
  for (const CallbackIndex callback : executor_.callbacks) {
    own_slots_.push_back(own_slots(callback));
  }
}

Duration TableDrivenExecutor::occupied(const Cost& cost, std::int64_t n) const {
  if (executor_.supply.blackout() == Duration{0}) return cost(n);
  return saturating_multiply(executor_.supply.time_for(cost(1)), n);
}

std::optional<SupplyBound> TableDrivenExecutor::own_slots(CallbackIndex callback) const {
  if (!executor_.table) return std::nullopt;
  const auto& [cycle, entries] = *executor_.table;
  std::vector<SupplyBound::Slot> left;
  for (std::size_t s = 0; s < entries.size(); ++s) {
    if (entries[s].callback != callback) continue;
    SupplyBound::Slot slot{entries[s].slot.start, entries[s].slot.end};
    for (std::size_t p = 0; p < entries.size(); ++p) {
      if (entries[p].callback == callback) continue;
      const Duration latest_start =
          entries[p].slot.end - epsilon - (p < s ? Duration{0} : cycle);
      const Cost& cost = round_.system[entries[p].callback].cost;
      slot.start = std::max(slot.start, saturating_add(latest_start, occupied(cost, 1)));
    }
    if (slot.start < slot.end) left.push_back(slot);
  }
  if (left.empty()) return std::nullopt;
  return SupplyBound::slots(left, cycle);
}

LocalBound TableDrivenExecutor::bound(CallbackIndex callback) {
  const Member& self = members_[round_.system[callback].rank];
  const auto& slots = own_slots_[round_.system[callback].rank];
  if (!slots || self.activations->unbounded()) return {};
  if (utilisation(std::span(&callback, 1), *slots, round_.system, round_.curves).overloaded) {
    return {};
  }
  const Cost& cost = self.task->cost;
  const Duration length = least_solution(*slots, epsilon, horizon(), [&](Duration x) {
    return saturating_add(epsilon, occupied(cost, self.activations->count(x)));
  });
  if (length == unbounded_time) return {};
  const auto complete = [&](Duration offset, Duration /*start*/) -> Completion {
    const std::int64_t earlier = self.activations->count(offset + epsilon) - 1;
    const Duration before = occupied(cost, earlier);
    const Duration start = slots->time_for(saturating_add(epsilon, before));
    return {start, saturating_add(start - epsilon, occupied(cost, earlier + 1) - before)};
  };
  const auto next_offset = [&](Duration offset) {
    const Duration step = self.activations->next_step(offset);
    return step == unbounded_time ? step : step - epsilon;
  };
  return {.response = std::max(epsilon, longest_response(length, complete, next_offset)),
          .by = "table_driven"};
}

}  // namespace takt::analysis
