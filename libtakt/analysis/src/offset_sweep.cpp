#include "offset_sweep.hpp"

#include <algorithm>

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::unbounded_time;

OffsetSweep::OffsetSweep(const curves::SupplyBound& supply, Duration blocking,
                         const Interferer& self, std::span<const Interferer> others,
                         const ActivationSteps& steps)
    : supply_(supply),
      self_(self),
      steps_(*steps.steps()),
      length_(steps.length()),
      self_curve_(steps.index_of(self.activations)),
      demands_(steps.curves()),
      limit_steps_(steps_),
      total_(epsilon + blocking) {
  std::size_t curve = 0;
  for (const Interferer& other : others) {
    curve = steps.index_of(other.activations, curve);
    demands_[curve].cost = other.cost;
    if (!other.limit) continue;
    demands_[curve].limit = &*other.limit;
    // Before the first step within reach, there is none but the extra instances.
    demands_[curve].most = other.limit->extra;
  }
  align_reaches();
  grow_own(1);
}

/// Most often all limits have the same reach, and grow in the order of the steps. If not, steps
/// that are moved to where their limit grows take their place.
void OffsetSweep::align_reaches() {
  const Interferer::Limit* first = nullptr;
  bool alike = true;
  for (const Demand& demand : demands_) {
    if (demand.limit == nullptr) continue;
    if (first == nullptr) first = demand.limit;
    alike = alike && demand.limit->reach == first->reach;
  }
  if (first == nullptr) limit_steps_ = {};
  if (alike) {
    reach_ = first == nullptr ? Duration{0} : first->reach;
    return;
  }
  for (const Step& step : steps_) {
    const Interferer::Limit* limit = demands_[step.curve].limit;
    if (limit == nullptr) continue;
    aligned_.push_back({.at = step.at - limit->reach, .count = step.count, .curve = step.curve});
  }
  std::ranges::stable_sort(aligned_, {}, &Step::at);
  limit_steps_ = aligned_;
}

/// `instances` of the victim are activated up to and including the offset, the last one is the
/// instance in question.
void OffsetSweep::grow_own(std::int64_t instances) {
  const Duration cost = (*self_.cost)(instances - 1);
  total_ += cost - own_cost_;
  own_cost_ = cost;
  last_cost_ = (*self_.cost)(instances)-cost;  // Lemma 17
}

void OffsetSweep::grow_limit(Demand& demand, std::int64_t activations) {
  const bool limiting = demand.most < demand.activated;
  demand.most = curves::saturating_add(activations, demand.limit->extra);
  if (limiting) update(demand);
}

void OffsetSweep::activate(Demand& demand, std::int64_t activations) {
  const bool limited = demand.most <= demand.activated;
  demand.activated = activations;
  if (!limited) update(demand);
}

void OffsetSweep::update(Demand& demand) {
  const Duration total = (*demand.cost)(std::min(demand.activated, demand.most));
  total_ += total - demand.total;
  demand.total = total;
}

Duration OffsetSweep::next_own() {
  while (next_own_ < steps_.size() && steps_[next_own_].curve != self_curve_) ++next_own_;
  return next_own_ < steps_.size() ? steps_[next_own_].at - epsilon : unbounded_time;
}

Duration OffsetSweep::next_limit() {
  const auto limited = [this](const Step& step) { return demands_[step.curve].limit != nullptr; };
  while (next_limit_ < limit_steps_.size() && !limited(limit_steps_[next_limit_])) ++next_limit_;
  return next_limit_ < limit_steps_.size() ? limit_steps_[next_limit_].at - reach_ : unbounded_time;
}

bool OffsetSweep::advance_start() {
  for (;;) {
    const Duration supplied = supply_.time_for(total_);
    if (supplied > length_) return false;
    start_ = std::max(start_, supplied);
    const Duration before = total_;
    for (; next_step_ < steps_.size() && steps_[next_step_].at <= start_; ++next_step_) {
      Demand& demand = demands_[steps_[next_step_].curve];
      if (demand.cost != nullptr) activate(demand, steps_[next_step_].count);
    }
    if (total_ == before) return true;
  }
}

std::optional<Duration> OffsetSweep::longest_response() {
  Duration longest = epsilon;
  Duration needed{-1};
  // All that is activated in a busy window completes in it: later offsets cannot exceed `longest`.
  for (Duration offset{0}; offset < length_ - longest;) {
    for (; next_own() <= offset; ++next_own_) grow_own(steps_[next_own_].count);
    for (; next_limit() <= offset; ++next_limit_) {
      const Step& step = limit_steps_[next_limit_];
      grow_limit(demands_[step.curve], step.count);
    }
    // What completes when it did at an earlier offset, responds sooner.
    if (total_ + last_cost_ != needed) {
      if (!advance_start()) return std::nullopt;
      needed = total_ + last_cost_;
      // The start is the least that supplies all of the demand (Lemma 12).
      longest = std::max(longest, supply_.time_for(needed - epsilon) - offset);
    }
    offset = std::min(next_own(), next_limit());
  }
  return longest;
}

}  // namespace takt::analysis
