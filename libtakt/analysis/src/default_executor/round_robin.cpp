#include "default_executor/round_robin.hpp"

#include <algorithm>

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

void RoundRobin::renew(Other& other) {
  const Duration response = *other.response;
  other.reach = response == unbounded_time ? response : response - epsilon;
  other.activated.renew();
  other.demand_until = other.activated.until();
}

void RoundRobin::renew_others() {
  for (Other& other : others_) {
    if (!other.saturated) renew(other);
  }
}

void RoundRobin::renew(Duration own, std::int64_t polling_points) {
  own_reach_ = own - epsilon;
  own_activated_.renew();
  if (polling_points == polling_points_) return;
  polling_points_ = polling_points;
  if (displaces_) take_own();
  for (Other& other : others_) {
    other.most = saturating_add(polling_points, other.extra);
    if (!other.saturated) continue;
    if (other.activated.count() >= other.most) {
      take_demand(other);
      continue;
    }
    other.saturated = false;
    renew(other);
    other.demand_until = Duration{-1};
  }
}

/// Self-interference in S + R_i - ε, and Ω.
void RoundRobin::count_own(Duration window) {
  own_activated_.count(window);
  take_own();
}

void RoundRobin::take_own() {
  std::int64_t earlier = std::max<std::int64_t>(0, own_activated_.count() - 1);
  if (displaces_) earlier = std::min(earlier, polling_points_);
  const Duration cost = (*cost_)(earlier);
  demand_ = saturating_add(demand_, cost - own_demand_);
  own_demand_ = cost;
  marginal_cost_ = (*cost_)(earlier + 1) - cost;  // Lemma 17
}

/// Direct interference in S + R_j - ε.
void RoundRobin::count(Other& other, Duration window) {
  if (other.activated.count() < other.most && window > other.activated.until()) {
    other.activated.count(window);
  }
  // Nothing limits how many instances of a callback without bound are pending.
  other.saturated = other.activated.count() >= other.most || window == unbounded_time;
  other.demand_until = other.saturated ? unbounded_time : other.activated.until();
  take_demand(other);
}

/// The demand of all instances that are pending, or of as many as Lemma 4 admits.
void RoundRobin::take_demand(Other& other) {
  const Duration cost = (*other.cost)(other.saturated ? other.most : other.activated.count());
  demand_ = saturating_add(demand_, cost - other.demand);
  other.demand = cost;
}

bool RoundRobin::advance() {
  std::size_t counted = 0;
  if (const Duration window = saturating_add(start_, own_reach_); window > own_activated_.until()) {
    count_own(window);
    counted += own_activated_.weight() - 1;
  }
  for (Other& other : others_) {
    const Duration window = saturating_add(start_, other.reach);
    if (window <= other.demand_until) continue;
    count(other, window);
    counted += other.activated.weight();
  }
  effort_->spend_on_pass(others_.size(), counted);
  const Duration supplied = supply_->time_for(demand_);
  if (supplied <= start_) return false;
  start_ = supplied;
  return true;
}

Duration RoundRobin::response() const {
  // S* is the least S that supplies all of the demand (Lemma 12), so sbf(S*) is the demand.
  return std::max(epsilon, supply_->time_for(saturating_add(demand_, marginal_cost_ - epsilon)));
}

Duration RoundRobin::longest_response(Duration limit) {
  while (advance()) {
    if (start_ > limit) return unbounded_time;
  }
  return response();
}

}  // namespace takt::analysis
