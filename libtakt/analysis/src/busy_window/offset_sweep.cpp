#include "busy_window/offset_sweep.hpp"

#include <algorithm>
#include <utility>

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

void OffsetSweep::begin(Blockers blockers, const Interferer& self, Duration length,
                        Duration before_decision, Duration while_last) {
  blockers_ = std::move(blockers);
  self_ = self;
  length_ = length;
  before_decision_ = before_decision;
  while_last_ = while_last;
  others_.clear();
  offset_ = Duration{0};
  start_ = epsilon;
  demand_ = epsilon + before_decision;
  blocking_ = Duration{0};
  blocking_until_ = blockers_.none() ? unbounded_time : Duration{-1};
  own_demand_ = Duration{0};
  own_until_ = Duration{-1};
  met_ = Duration{-1};
  longest_ = {.response = epsilon, .offset = Duration{0}, .start = epsilon};
  offsets_ = 0;
  failed_ = false;
}

void OffsetSweep::add(const Interferer& other) {
  Other& added = others_.emplace_back(other.cost, *other.activations);
  if (!other.limit) return;
  added.reach = other.limit->reach;
  added.extra = other.limit->extra;
  added.most = other.limit->extra;
}

void OffsetSweep::admit(std::int64_t more) {
  for (Other& other : others_) {
    if (other.most == curves::unbounded_count) continue;
    other.extra = saturating_add(other.extra, more);
    other.most = saturating_add(other.most, more);
    if (other.offset_until != unbounded_time) count(other);
  }
}

void OffsetSweep::count_blocking() {
  const Duration blocking = blockers_.at(offset_).time;
  demand_ += blocking - blocking_;
  blocking_ = blocking;
  blocking_until_ = blockers_.next_step(offset_);
  if (blocking_until_ != unbounded_time) blocking_until_ -= epsilon;
}

/// Counts the own instances activated up to and including the offset. The last one is the victim.
void OffsetSweep::count_own() {
  const auto own = self_.activations->plateau(offset_ + epsilon);
  own_until_ = own.until == unbounded_time ? own.until : own.until - epsilon;
  const std::int64_t earlier = std::max<std::int64_t>(0, own.count - 1);
  const Duration cost = (*self_.cost)(earlier);
  demand_ += cost - own_demand_;
  own_demand_ = cost;
  // Lemma 17
  last_cost_ = (*self_.cost)(earlier + 1) - cost - before_decision_ + while_last_;
}

void OffsetSweep::count(Other& other) {
  const auto limited = [&] {
    if (other.activated.count() < other.most && start_ > other.activated.until()) {
      other.activated.count(start_);
    }
    return other.activated.count() >= other.most;
  };
  if (limited() && offset_ + other.reach > other.within_reach.until()) {
    other.within_reach.count(offset_ + other.reach);
    other.most = saturating_add(other.within_reach.count(), other.extra);
  }
  Duration demand{};
  if (limited()) {
    other.start_until = unbounded_time;
    other.offset_until = other.within_reach.until();
    if (other.offset_until != unbounded_time) other.offset_until -= other.reach;
    demand = (*other.cost)(other.most);
  } else {
    other.start_until = other.activated.until();
    other.offset_until = unbounded_time;
    demand = (*other.cost)(other.activated.count());
  }
  demand_ += demand - other.demand;
  other.demand = demand;
}

/// Moves the start to where the demand at the current offset is supplied.
void OffsetSweep::advance_start() {
  for (Duration before{-1}; demand_ != before;) {
    const Duration supplied = supply_->time_for(demand_);
    failed_ = supplied > length_;
    if (failed_) return;
    start_ = std::max(start_, supplied);
    before = demand_;
    std::size_t counted = 0;
    for (Other& other : others_) {
      if (start_ <= other.start_until) continue;
      count(other);
      counted += other.activated.weight();
    }
    effort_->spend_on_pass(others_.size(), counted);
  }
}

LongestResponse OffsetSweep::longest_response(Duration enough) {
  // All that is activated in a busy window completes in it: later offsets cannot exceed `longest`.
  while (longest_.response < enough && offset_ < length_ - longest_.response) {
    if (offset_ > blocking_until_) count_blocking();
    std::size_t counted = 0;
    if (offset_ > own_until_) {
      count_own();
      counted += self_.activations->weight() - 1;
    }
    for (Other& other : others_) {
      if (offset_ <= other.offset_until) continue;
      count(other);
      counted += other.activated.weight();
    }
    effort_->spend_on_pass(others_.size(), counted);
    // An instance that completes when one at an earlier offset did has a shorter response.
    if (demand_ + last_cost_ != met_) {
      advance_start();
      failed_ = failed_ || ++offsets_ > most_offsets;
      if (failed_) break;
      met_ = demand_ + last_cost_;
      // The start is the least that supplies all of the demand (Lemma 12).
      longest_.take_longer(offset_, {start_, supply_->time_for(met_ - epsilon)});
      if (longest_.response >= enough) break;
    }
    Duration level_until = std::min(own_until_, blocking_until_);
    for (const Other& other : others_) level_until = std::min(level_until, other.offset_until);
    offset_ = saturating_add(level_until, epsilon);
  }
  return longest_;
}

}  // namespace takt::analysis
