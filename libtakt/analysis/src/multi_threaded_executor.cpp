#include "multi_threaded_executor.hpp"

#include <algorithm>

#include "least_solution.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;
using curves::unbounded_time;

Duration MultiThreadedExecutor::occupied(const Member& member, std::int64_t n) const {
  if (executor_.supply.blackout() == Duration{0}) return member.task->cost(n);
  return saturating_multiply(executor_.supply.time_for(member.task->cost(1)), n);
}

Wide MultiThreadedExecutor::share_before(const Member& self) const {
  Wide exclusive = 0;
  Wide shared = 0;
  for (const Member& member : members_) {
    if (member.activations->unbounded()) continue;
    const bool alone = &member == &self || exclude(self, member);
    (alone ? exclusive : shared) += long_run_demand(member.callback, *member.activations).slope;
  }
  return exclusive + (shared / executor_.threads);
}

std::optional<Utilisation> MultiThreadedExecutor::divergence(CallbackIndex callback) const {
  const Wide thread = supplied_share(curves::SupplyBound::dedicated());
  const Wide share = share_before(members_[round_.system[callback].rank]);
  if (share < thread) return std::nullopt;
  return Utilisation{
      .demand = in_processors(share), .supply = in_processors(thread), .overloaded = true};
}

Duration MultiThreadedExecutor::latest_start(const Member& self) const {
  if (share_before(self) >= supplied_share(curves::SupplyBound::dedicated())) {
    return unbounded_time;
  }
  const auto demand = [&](Duration x) {
    // Instances of one callback start in order, also if they may run side by side.
    Duration exclusive = occupied(self, std::max<std::int64_t>(0, pending(self, x) - 1));
    Duration shared{0};
    for (const Member& other : members_) {
      if (&other == &self) continue;
      const Duration work = occupied(other, pending(other, x));
      auto& sum = exclude(self, other) ? exclusive : shared;
      sum = saturating_add(sum, work);
    }
    if (shared == unbounded_time) return shared;
    return saturating_add(saturating_add(epsilon, exclusive), shared / executor_.threads);
  };
  return least_solution(curves::SupplyBound::dedicated(), epsilon, horizon(), demand);
}

LocalBound MultiThreadedExecutor::bound(CallbackIndex callback) {
  const Member& self = members_[round_.system[callback].rank];
  if (self.activations->unbounded()) return {};
  const Duration start = latest_start(self);
  if (start == unbounded_time) return {};
  return {.response = saturating_add(start - epsilon, occupied(self, 1)), .by = "multi_threaded"};
}

}  // namespace takt::analysis
