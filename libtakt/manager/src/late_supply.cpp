#include "takt/manager/late_supply.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "takt/curves/supply_bound.hpp"

namespace takt::manager {

Duration late_supply(std::span<const ThreadRun> runs, const ReservationDecision& reservation,
                     Instant from, Instant until) {
  const auto supply = curves::SupplyBound::reservation(reservation.budget, reservation.period,
                                                       reservation.deadline);
  Duration latest{};
  for (std::size_t last = 0; last < runs.size(); ++last) {
    const ThreadRun& end = runs[last];
    if (end.end <= from || end.end > until) continue;
    for (const ThreadRun& begin : runs.first(last + 1) | std::views::reverse) {
      if (begin.waits_at_start != end.waits_at_end) break;
      const Duration allowed = supply.time_for(end.cpu_at_end - begin.cpu_at_start);
      latest = std::max(latest, end.end - begin.start - allowed);
    }
  }
  return latest;
}

LateSupply late_supply(std::span<const ReservationDecision> reservations, const RunsOf& runs,
                       Instant since, Instant activation, Instant completion) {
  LateSupply late;
  Duration latest{};
  for (const ReservationDecision& reservation : reservations) {
    Duration here{};
    for (auto& thread : runs(reservation.executor, since)) {
      std::erase_if(thread, [&](const ThreadRun& run) { return run.start < since; });
      here = std::max(here, late_supply(thread, reservation, activation, completion));
    }
    late.time += here;
    if (here > latest) {
      latest = here;
      late.executor = reservation.executor;
    }
  }
  return late;
}

std::vector<ReservationDecision> reservations_along(
    const model::Model& model, const std::string& chain,
    const std::vector<ReservationDecision>& reservations) {
  std::vector<ReservationDecision> along;
  const auto found = std::ranges::find(model.chains, chain, &model::Chain::id);
  if (found == model.chains.end()) return along;
  std::ranges::copy_if(reservations, std::back_inserter(along), [&](const auto& reservation) {
    return std::ranges::any_of(found->callbacks, [&](model::CallbackIndex callback) {
      return model[model[callback].executor].id == reservation.executor;
    });
  });
  return along;
}

}  // namespace takt::manager
