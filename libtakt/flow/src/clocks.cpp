#include "takt/flow/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "offset_bounds.hpp"

namespace takt::flow {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double nanoseconds(Duration duration) { return static_cast<double>(duration.count()); }

/// Clocks may show anything: what does not fit is the longest time.
Duration rounded(double nanoseconds) {
  constexpr auto longest = static_cast<double>(longest_time.count());
  return Duration(std::llround(std::clamp(nanoseconds, -longest, longest)));
}

Instant bounded(Instant time) { return Instant(takt::bounded(time.time_since_epoch())); }

}  // namespace

std::string_view to_string(ClockQuality quality) {
  switch (quality) {
    case ClockQuality::reference:
      return "reference";
    case ClockQuality::accurate:
      return "accurate";
    case ClockQuality::approximate:
      return "approximate";
    case ClockQuality::one_way:
      return "one_way";
    case ClockQuality::incoherent:
      return "incoherent";
    case ClockQuality::absent:
      break;
  }
  return "absent";
}

Instant HostClock::to_reference(Instant time) const {
  if (knots.empty()) return time;
  const auto after = std::ranges::upper_bound(knots, time, {}, &Knot::shown);
  if (after == knots.begin() || after == knots.end()) {
    const Knot& end = after == knots.begin() ? knots.front() : knots.back();
    const double shown = nanoseconds(time - end.shown);
    // Only the small correction is rounded, not the time itself: this keeps the order of times.
    return bounded(end.reference + (time - end.shown) - rounded(drift * shown / (1 + drift)));
  }
  const Knot& before = *std::prev(after);
  const double share = nanoseconds(time - before.shown) / nanoseconds(after->shown - before.shown);
  const Duration whole = after->reference - before.reference;
  return std::min(before.reference + rounded(share * nanoseconds(whole)), after->reference);
}

std::optional<Duration> HostClock::uncertainty_at(Instant reference) const {
  if (quality == ClockQuality::reference) return Duration{0};
  if (!is_bounded() || knots.empty()) return std::nullopt;
  const auto after = std::ranges::upper_bound(knots, reference, {}, &Knot::reference);
  if (after == knots.begin()) return rounded(std::ceil(after->uncertainty));
  const Knot& before = *std::prev(after);
  if (after == knots.end()) return rounded(std::ceil(before.uncertainty));
  return rounded(std::ceil(std::max(before.uncertainty, after->uncertainty)));
}

std::optional<Duration> HostClock::widest_uncertainty() const {
  if (quality == ClockQuality::reference) return Duration{0};
  if (!is_bounded() || knots.empty()) return std::nullopt;
  return rounded(std::ceil(std::ranges::max(knots, {}, &Knot::uncertainty).uncertainty));
}

void ClockEstimator::widen(Pair& pair) {
  pair.width *= 2;
  const auto& longer = pair.above.size() > pair.below.size() ? pair.above : pair.below;
  const Point& first = longer.begin()->second;
  const Point& last = longer.rbegin()->second;
  if (last.x > first.x) {
    pair.slope = std::clamp((last.y - first.y) / (last.x - first.x), -most_drift, most_drift);
  }
  for (auto* const points : {&pair.above, &pair.below}) {
    for (const auto former = std::exchange(*points, {}); const auto& [part, point] : former) {
      add(pair, point, points == &pair.above);
    }
  }
}

void ClockEstimator::add(Pair& pair, Point point, bool is_above) {
  auto& points = is_above ? pair.above : pair.below;
  const auto part = static_cast<std::int64_t>(std::floor(point.x / pair.width));
  const auto [known, is_new] = points.try_emplace(part, point);
  if (is_new) return;
  const double now = point.y - pair.slope * point.x;
  const double before = known->second.y - pair.slope * known->second.x;
  if (is_above ? now < before : now > before) known->second = point;
}

void ClockEstimator::add(HostIndex from, Instant sent, HostIndex to, Instant received) {
  const bool forward = from < to;
  const auto [entry, is_new] =
      pairs_.try_emplace(forward ? std::pair(from, to) : std::pair(to, from));
  Pair& pair = entry->second;
  // A time of the first clock, and how far the second one was ahead of it.
  const Instant time = forward ? sent : received;
  if (is_new) {
    pair.origin = time;
  }
  ++pair.count;
  add(pair,
      {nanoseconds(time - pair.origin), nanoseconds(forward ? received - sent : sent - received)},
      forward);
  while (std::max(pair.above.size(), pair.below.size()) > most_points) {
    widen(pair);
  }
}

HostClock ClockEstimator::clock_of(const Pair& pair, bool inverse) {
  HostClock clock;
  clock.messages = pair.count;
  std::vector<OffsetBound> bounds;
  for (const auto& [part, point] : pair.above) bounds.push_back({point, true});
  for (const auto& [part, point] : pair.below) bounds.push_back({point, false});
  std::ranges::sort(bounds, {}, [](const OffsetBound& bound) { return bound.point.x; });
  const auto add_knot = [&](double time, double offset, double uncertainty) {
    Instant reference = bounded(pair.origin + rounded(time));
    Instant shown = bounded(reference + rounded(offset));
    if (inverse) std::swap(reference, shown);
    if (!clock.knots.empty()) {  // a clock that was set back shows some times again
      reference = std::max(reference, clock.knots.back().reference);
      shown = std::max(shown, clock.knots.back().shown);
    }
    clock.knots.push_back({reference, shown, uncertainty});
  };
  const auto extreme = [&] {
    const auto by_offset = [](const OffsetBound& bound) { return bound.point.y; };
    return pair.below.empty() ? std::ranges::min(bounds, {}, by_offset).point
                              : std::ranges::max(bounds, {}, by_offset).point;
  };
  if (pair.above.empty() || pair.below.empty()) {
    clock.quality = ClockQuality::one_way;
    add_knot(bounds.front().point.x, extreme().y, 0);
  } else {
    const OffsetRanges found = ranges_of(bounds, most_drift, most_wander);
    // A clock that is set now and then can be followed, one that is set all the time cannot.
    constexpr std::size_t bounds_of_a_step = 20;
    if (found.steps > 3 && found.steps * bounds_of_a_step > bounds.size()) {
      clock.quality = ClockQuality::incoherent;
      add_knot(bounds.front().point.x, bounds[bounds.size() / 2].point.y, 0);
    } else {
      const bool is_changed = found.steps + found.changes != 0;
      clock.quality = is_changed ? ClockQuality::approximate : ClockQuality::accurate;
      for (std::size_t i = 0; i < found.ranges.size(); ++i) {
        const OffsetRange& range = found.ranges[i];
        if (!std::isfinite(range.low) || !std::isfinite(range.high)) continue;
        // Between two times, the offset may leave the straight line and come back.
        const double before = i > 0 ? range.time - found.ranges[i - 1].time : 0;
        const double after =
            i + 1 < found.ranges.size() ? found.ranges[i + 1].time - range.time : 0;
        add_knot(range.time, range.middle,
                 std::max(std::abs(range.high - range.middle), std::abs(range.middle - range.low)) +
                     range.rate * std::max(before, after) / 2);
      }
      if (clock.knots.empty()) clock.quality = ClockQuality::incoherent;
    }
  }
  if (clock.knots.empty()) return clock;
  const HostClock::Knot& first = clock.knots.front();
  const HostClock::Knot& last = clock.knots.back();
  clock.offset = nanoseconds(first.shown - first.reference);
  if (last.reference > first.reference) {
    clock.drift = std::clamp((nanoseconds(last.shown - last.reference) - clock.offset) /
                                 nanoseconds(last.reference - first.reference),
                             -most_drift, most_drift);
  }
  return clock;
}

HostClock ClockEstimator::compose(const HostClock& near, const HostClock& far) {
  HostClock clock = far;
  clock.quality = std::max(near.quality, far.quality);
  for (HostClock::Knot& knot : clock.knots) {
    knot.reference = near.to_reference(knot.reference);
    const auto more = near.uncertainty_at(knot.reference);
    knot.uncertainty += more ? nanoseconds(*more) : 0;
  }
  if (!clock.knots.empty()) {
    clock.offset = nanoseconds(clock.knots.front().shown - clock.knots.front().reference);
  }
  clock.drift = (1 + near.drift) * (1 + far.drift) - 1;
  return clock;
}

std::vector<HostClock> ClockEstimator::estimate(std::size_t hosts) const {
  std::vector<HostClock> clocks(hosts);
  if (hosts == 0) {
    return clocks;
  }
  std::vector<bool> known(hosts);
  known[0] = true;
  clocks[0].quality = ClockQuality::reference;
  while (true) {
    // The host whose clock is known best against one that is known already.
    std::optional<HostClock> best;
    std::size_t best_near = 0;
    std::size_t best_far = 0;
    const auto width = [](const HostClock& clock) {
      if (clock.knots.empty()) return infinite;
      const auto stated = clock.uncertainty_at(clock.knots[clock.knots.size() / 2].reference);
      return stated ? nanoseconds(*stated) : infinite;
    };
    for (const auto& [ends, pair] : pairs_) {
      const std::size_t a = ends.first.value();
      const std::size_t b = ends.second.value();
      if (a >= hosts || b >= hosts || known[a] == known[b]) {
        continue;
      }
      HostClock clock = clock_of(pair, known[b]);
      if (!best || width(clock) < width(*best)) {
        best = std::move(clock);
        best_near = known[a] ? a : b;
        best_far = known[a] ? b : a;
      }
    }
    if (!best) {
      return clocks;
    }
    known[best_far] = true;
    clocks[best_far] = compose(clocks[best_near], *best);
  }
}

}  // namespace takt::flow
