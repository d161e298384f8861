#include "offset_sweep.hpp"

#include <algorithm>

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

OffsetSweep::OffsetSweep(const curves::SupplyBound& supply, Duration blocking,
                         const Interferer& self, std::span<const Interferer> others,
                         const ActivationSteps& steps)
    : supply_(supply),
      self_(self),
      steps_(*steps.steps()),
      length_(steps.length()),
      self_curve_(steps.index_of(self.activations)),
      other_of_(steps.curves(), others.size()),
      total_(epsilon + blocking) {
  others_.reserve(others.size());
  for (const Interferer& other : others) {
    other_of_[steps.index_of(other.activations)] = others_.size();
    others_.push_back({.interferer = &other});
    // Before the first step within reach, there is none but the extra instances.
    if (other.limit) others_.back().most = other.limit->extra;
  }
  collect_growth();
  grow_own(1);
}

void OffsetSweep::collect_growth() {
  bool ascending = true;
  limit_growth_.reserve(steps_.size());
  for (const ActivationSteps::Step& step : steps_) {
    if (step.curve == self_curve_) {
      own_growth_.push_back({.offset = step.at - epsilon, .count = step.count});
    }
    const std::size_t other = other_of_[step.curve];
    if (other == others_.size() || !others_[other].interferer->limit) continue;
    const Interferer::Limit& limit = *others_[other].interferer->limit;
    limit_growth_.push_back({.offset = std::max(Duration{0}, step.at - limit.reach),
                             .count = curves::saturating_add(step.count, limit.extra),
                             .other = other});
    const std::size_t n = limit_growth_.size();
    ascending = ascending && (n < 2 || limit_growth_[n - 2].offset <= limit_growth_[n - 1].offset);
  }
  if (!ascending) std::ranges::stable_sort(limit_growth_, {}, &Growth::offset);
}

/// `instances` of the victim are activated up to and including the offset, the last one is the
/// instance in question.
void OffsetSweep::grow_own(std::int64_t instances) {
  const Duration cost = (*self_.cost)(instances - 1);
  total_ += cost - own_cost_;
  own_cost_ = cost;
  last_cost_ = (*self_.cost)(instances)-cost;  // Lemma 17
}

void OffsetSweep::update(Demand& demand) {
  const Duration cost = (*demand.interferer->cost)(std::min(demand.activated, demand.most));
  total_ += cost - demand.cost;
  demand.cost = cost;
}

bool OffsetSweep::advance_start() {
  for (;;) {
    const Duration supplied = supply_.time_for(total_);
    if (supplied > length_) return false;
    start_ = std::max(start_, supplied);
    const Duration before = total_;
    for (; next_step_ < steps_.size() && steps_[next_step_].at <= start_; ++next_step_) {
      const std::size_t other = other_of_[steps_[next_step_].curve];
      if (other == others_.size()) continue;
      others_[other].activated = steps_[next_step_].count;
      update(others_[other]);
    }
    if (total_ == before) return true;
  }
}

std::optional<Duration> OffsetSweep::longest_response() {
  Duration longest = epsilon;
  auto own = own_growth_.begin();
  auto limit = limit_growth_.begin();
  // All that is activated in a busy window completes in it: later offsets cannot exceed `longest`.
  for (Duration offset{0}; offset < length_ - longest;) {
    for (; own != own_growth_.end() && own->offset == offset; ++own) grow_own(own->count);
    for (; limit != limit_growth_.end() && limit->offset == offset; ++limit) {
      others_[limit->other].most = limit->count;
      update(others_[limit->other]);
    }
    if (!advance_start()) return std::nullopt;
    // The start is the least that supplies all of the demand (Lemma 12).
    longest = std::max(longest, supply_.time_for(total_ - epsilon + last_cost_) - offset);
    offset = length_;
    if (own != own_growth_.end()) offset = std::min(offset, own->offset);
    if (limit != limit_growth_.end()) offset = std::min(offset, limit->offset);
  }
  return longest;
}

}  // namespace takt::analysis
