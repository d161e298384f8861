#include "takt/shaping/phase.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "takt/statistics/lower_line.hpp"

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
  const std::optional<Line> line = earliest();
  // A loop whose period is another drifts away from our grid: the line says how far.
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

std::optional<PhaseTracker::Line> PhaseTracker::earliest() const {
  if (messages_.size() < window / 2) return std::nullopt;
  // From the newest message on, so that the numbers are small and exact.
  const Message& newest = messages_.back();
  std::vector<statistics::Point> points;
  points.reserve(messages_.size());
  for (const Message& message : messages_) {
    points.push_back({static_cast<double>(message.cycle - newest.cycle),
                      static_cast<double>((message.lateness - newest.lateness).count())});
  }
  const statistics::Line line = *statistics::lower_line(std::move(points));
  // At first messages may be anything.
  const auto steepest = static_cast<double>(period_.count()) / far_part;
  return Line{
      {newest.cycle + std::llround(line.at.x), newest.lateness + Duration(std::llround(line.at.y))},
      std::clamp(line.slope, -steepest, steepest)};
}

std::optional<Instant> PhaseTracker::begin(Instant now) const {
  const std::optional<Line> line = earliest();
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
  const std::optional<Line> line = earliest();
  if (!line) return std::nullopt;
  return line->slope / static_cast<double>(period_.count());
}

}  // namespace takt::shaping
