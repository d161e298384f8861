#include "takt/curves/supply_bound.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "takt/base/int128.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::curves {

SupplyBound SupplyBound::slots(std::span<const Slot> slots, Duration cycle) {
  // A window is served worst if it begins as a slot ends. For each such window and each later slot:
  // the time without supply before that slot, and the demand served by the slots in between.
  std::vector<Wait> candidates;
  Duration budget{0};
  for (std::size_t end = 0; end < slots.size(); ++end) {
    Wait wait;
    Duration last_end = slots[end].end;
    budget += slots[end].end - slots[end].start;
    for (std::size_t n = 1; n <= slots.size(); ++n) {
      const std::size_t next = (end + n) % slots.size();
      const Duration start = slots[next].start + (end + n < slots.size() ? Duration{0} : cycle);
      wait.wait += start - last_end;
      candidates.push_back(wait);
      wait.demand += slots[next].end - slots[next].start;
      last_end = start + (slots[next].end - slots[next].start);
    }
  }
  // Each demand waits longest at some place in the cycle: keep that wait.
  std::ranges::sort(candidates, {}, &Wait::demand);
  std::vector<Wait> waits;
  for (const Wait& candidate : candidates) {
    if (!waits.empty() && candidate.wait <= waits.back().wait) continue;
    if (!waits.empty() && candidate.demand == waits.back().demand) {
      waits.back() = candidate;
    } else {
      waits.push_back(candidate);
    }
  }
  SupplyBound bound(budget, cycle, waits.front().wait);
  if (waits.size() > 1) bound.waits_ = std::move(waits);
  return bound;
}

/// The wait of the last step below `demand`, 0 < demand <= budget_.
Duration SupplyBound::wait_for(Duration demand) const {
  return std::prev(std::ranges::lower_bound(waits_, demand, {}, &Wait::demand))->wait;
}

Duration SupplyBound::line_delay() const {
  Duration delay = blackout_;
  // Where supply stands still longest, it falls farthest behind the line.
  for (const Wait& step : waits_) {
    const Int128 in_line = Int128{step.demand.count()} * period_.count() / budget_.count();
    delay = std::max(delay, step.wait + step.demand - Duration{static_cast<std::int64_t>(in_line)});
  }
  return delay;
}

Duration SupplyBound::supply_with_waits(Duration window) const {
  if (window <= blackout_) return Duration{0};
  const std::int64_t periods = (window - blackout_) / period_;
  const Duration rest = window - periods * period_;
  // The last step whose wait ends within the window: supply has risen since, or reached the demand
  // of the next step.
  const auto next = std::ranges::upper_bound(
      waits_, rest, {}, [](const Wait& step) { return step.demand + step.wait; });
  const Duration served = rest - std::prev(next)->wait;
  return periods * budget_ + std::min(next == waits_.end() ? budget_ : next->demand, served);
}

/// The most by which sbf rises within that time, which is sbf(blackout + time).
Duration SupplyBound::most_in(Duration time) const {
  assert(waits_.empty());
  if (budget_ == period_) return time;
  const std::int64_t periods = time / period_;
  return saturating_add(saturating_multiply(budget_, periods),
                        std::min(budget_, time - periods * period_));
}

Duration SupplyBound::supply(Duration window) const {
  if (remaining_) return window <= Duration{0} ? Duration{0} : remaining_->supply(window);
  if (!waits_.empty()) return supply_with_waits(window);
  if (budget_ == period_) return std::max(Duration{0}, window - blackout_);
  const Duration served = window - blackout_;
  if (served <= Duration{0}) return Duration{0};
  const std::int64_t periods = served / period_;
  return periods * budget_ + std::min(budget_, served - periods * period_);
}

}  // namespace takt::curves
