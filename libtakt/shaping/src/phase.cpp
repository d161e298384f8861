#include "takt/shaping/phase.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

namespace takt::shaping {

namespace {

/// The multiple of the period that is nearest to a time after the first.
std::int64_t nearest_cycle(Duration since_first, Duration period) {
  const Duration half = since_first < Duration{0} ? -period / 2 : period / 2;
  return (since_first + half) / period;
}

}  // namespace

Duration PhaseTracker::Line::lateness(std::int64_t cycle) const {
  return at.lateness + Duration(std::llround(slope * static_cast<double>(cycle - at.cycle)));
}

void PhaseTracker::observe(Instant when) {
  if (!first_) first_ = when;
  const Duration since = when - *first_;
  const std::optional<Line> line = envelope();
  // A loop whose period is another drifts away from our grid: the envelope says how far.
  std::int64_t cycle = nearest_cycle(since - (line ? line->at.lateness : Duration{0}), period_);
  if (line) cycle = nearest_cycle(since - line->lateness(cycle), period_);
  const Message message{cycle, since - cycle * period_};
  if (line && std::chrono::abs(message.lateness - line->lateness(cycle)) > period_ / far_part) {
    far_.push_back(message);
    if (far_.size() < window / 2) return;
    messages_ = std::exchange(far_, {});
    ++relocks_;
    return;
  }
  far_.clear();
  messages_.push_back(message);
  if (messages_.size() > window) messages_.pop_front();
}

std::optional<PhaseTracker::Line> PhaseTracker::envelope() const {
  if (messages_.size() < window / 2) return std::nullopt;
  const auto half = messages_.begin() + static_cast<std::ptrdiff_t>(messages_.size() / 2);
  const auto early = std::min_element(messages_.begin(), half, [](const auto& a, const auto& b) {
    return a.lateness < b.lateness;
  });
  const auto late = std::min_element(
      half, messages_.end(), [](const auto& a, const auto& b) { return a.lateness < b.lateness; });
  // Two messages may have come in one cycle, and at first they may be anything.
  const auto cycles = static_cast<double>(std::max<std::int64_t>(late->cycle - early->cycle, 1));
  const auto rise = static_cast<double>((late->lateness - early->lateness).count());
  const auto steepest = static_cast<double>(period_.count()) / far_part;
  return Line{*late, std::clamp(rise / cycles, -steepest, steepest)};
}

std::optional<Instant> PhaseTracker::begin(Instant now) const {
  const std::optional<Line> line = envelope();
  if (!line) return std::nullopt;
  const auto beginning = [&](std::int64_t cycle) {
    return *first_ + cycle * period_ + line->lateness(cycle) - delay_;
  };
  const Duration real_period(std::llround(static_cast<double>(period_.count()) + line->slope));
  std::int64_t cycle = line->at.cycle + (now - beginning(line->at.cycle)) / real_period;
  while (beginning(cycle) > now) --cycle;
  while (beginning(cycle + 1) <= now) ++cycle;
  return beginning(cycle);
}

std::optional<double> PhaseTracker::drift() const {
  const std::optional<Line> line = envelope();
  if (!line) return std::nullopt;
  return line->slope / static_cast<double>(period_.count());
}

}  // namespace takt::shaping
