#include "takt/shaping/overshoot.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace takt::shaping {

Gate::Gate(std::vector<Slot> slots, Duration cycle, Duration publish_time, Duration shortest,
           Overshoot policy)
    : slots_(std::move(slots)),
      cycle_(cycle),
      publish_time_(publish_time),
      earliest_(shortest / 2),
      policy_(policy) {
  assert(!slots_.empty() && slots_.back().end <= cycle_);
}

Gate::Decision Gate::decide(Duration ready) const {
  // Rounds before the table began count as others do.
  const Duration position = (ready % cycle_ + cycle_) % cycle_;
  const Duration round = ready - position;
  const auto next = std::ranges::lower_bound(
      slots_, position, {}, [&](const Slot& slot) { return slot.end - publish_time_; });
  const bool is_of_this_cycle = position >= earliest_ && next != slots_.end();
  if (is_of_this_cycle) {
    return {Decision::Kind::in_slot, std::max(ready, round + next->start)};
  }
  switch (policy_) {
    case Overshoot::skip:
      return {Decision::Kind::dropped, ready};
    case Overshoot::degrade:
      return {Decision::Kind::late, ready};
    case Overshoot::defer:
      break;
  }
  const Duration start =
      next != slots_.end() ? round + next->start : round + cycle_ + slots_.front().start;
  return {Decision::Kind::late, std::max(ready, start)};
}

Delivery deliver(const Gate& gate, std::span<const Duration> latencies, Duration cycle,
                 Duration publish_time) {
  Delivery delivery;
  delivery.latencies.reserve(latencies.size());
  Duration release{};
  Duration ready{};
  Duration last{};
  for (const Duration latency : latencies) {
    ready = std::max(release, ready) + latency;
    const Gate::Decision decision = gate.decide(ready);
    if (decision.kind == Gate::Decision::Kind::dropped) {
      ++delivery.dropped;
    } else {
      // Outputs keep their order: one that leaves at once does not overtake one that waits.
      const Duration left = std::max(decision.release + publish_time, last);
      delivery.late += decision.kind == Gate::Decision::Kind::late ? 1 : 0;
      delivery.longest_gap = std::max(delivery.longest_gap, left - last);
      delivery.latencies.push_back(left - release);
      last = left;
    }
    release += cycle;
  }
  delivery.longest_gap = std::max(delivery.longest_gap, release - last);
  return delivery;
}

}  // namespace takt::shaping
