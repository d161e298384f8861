#include "takt/shaping/phase.hpp"

#include <algorithm>
#include <iterator>

namespace takt::shaping {

namespace {

/// The multiple of the period that is nearest to a time after the first.
std::int64_t nearest_cycle(Duration since_first, Duration period) {
  return (since_first + period / 2) / period;
}

}  // namespace

void PhaseTracker::observe(Instant when) {
  if (!first_) first_ = when;
  const Duration since = when - *first_;
  // A loop whose period is another drifts away from our grid: the newest message says how far.
  const Duration drifted = messages_.empty() ? Duration{0} : messages_.back().lateness;
  const std::int64_t cycle = nearest_cycle(since - drifted, period_);
  messages_.push_back({cycle, since - cycle * period_});
  if (messages_.size() > window) messages_.pop_front();
}

std::optional<Instant> PhaseTracker::begin(Instant now) const {
  if (messages_.size() < window / 2) return std::nullopt;
  const auto half = messages_.begin() + static_cast<std::ptrdiff_t>(messages_.size() / 2);
  const auto early = std::min_element(messages_.begin(), half, [](const auto& a, const auto& b) {
    return a.lateness < b.lateness;
  });
  const auto late = std::min_element(
      half, messages_.end(), [](const auto& a, const auto& b) { return a.lateness < b.lateness; });
  const Duration slope = (late->lateness - early->lateness) / (late->cycle - early->cycle);
  const auto beginning = [&](std::int64_t cycle) {
    return *first_ + cycle * period_ + late->lateness + (cycle - late->cycle) * slope - delay_;
  };
  std::int64_t cycle = late->cycle + (now - beginning(late->cycle)) / (period_ + slope);
  while (beginning(cycle) > now) --cycle;
  while (beginning(cycle + 1) <= now) ++cycle;
  return beginning(cycle);
}

}  // namespace takt::shaping
