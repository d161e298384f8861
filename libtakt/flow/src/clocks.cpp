#include "takt/flow/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace takt::flow {
namespace {

constexpr std::size_t most_points = 4096;
constexpr std::size_t steps = 64;
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
    case ClockQuality::one_way:
      return "one_way";
    case ClockQuality::absent:
      break;
  }
  return "absent";
}

Instant HostClock::to_reference(Instant time) const {
  const double shown = nanoseconds(time - origin) - offset;
  // Only the small correction is rounded, not the time itself: this keeps the order of times.
  return bounded(time - rounded(offset + drift * shown / (1 + drift)));
}

std::optional<Duration> HostClock::uncertainty_at(Instant reference) const {
  if (quality == ClockQuality::reference) {
    return Duration{0};
  }
  if (uncertainty.empty()) {
    return std::nullopt;
  }
  const double whole = std::max(1.0, nanoseconds(last - origin));
  const double at = std::clamp(nanoseconds(reference - origin) / whole, 0.0, 1.0) *
                    static_cast<double>(uncertainty.size() - 1);
  const auto before = static_cast<std::size_t>(at);
  const std::size_t after = std::min(before + 1, uncertainty.size() - 1);
  // The band is convex: between two points it is at most on the line between them.
  const double share = at - static_cast<double>(before);
  return rounded(std::ceil(uncertainty[before] * (1 - share) + uncertainty[after] * share));
}

/// Keeps the points that a straight line below them can touch, or one above them.
std::vector<ClockEstimator::Point> ClockEstimator::hull(std::vector<Point> points, bool is_above) {
  const auto mirror = [&] {
    if (is_above) return;
    for (Point& point : points) point.y = -point.y;
  };
  mirror();
  points = statistics::lower_hull(std::move(points));
  mirror();
  return points;
}

void ClockEstimator::add(std::vector<Point>& points, Point point, bool is_above) {
  points.push_back(point);
  if (points.size() > most_points) {
    points = hull(std::move(points), is_above);
    if (points.size() > most_points / 2) {  // the hull drops too few: keep every other point
      for (std::size_t i = 0; 2 * i < points.size(); ++i) {
        points[i] = points[2 * i];
      }
      points.resize((points.size() + 1) / 2);
    }
  }
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
  const Point point{nanoseconds(time - pair.origin),
                    nanoseconds(forward ? received - sent : sent - received)};
  ++pair.count;
  add(forward ? pair.above : pair.below, point, forward);
}

HostClock ClockEstimator::line(const Pair& pair, bool inverse) {
  const std::vector<Point> above = hull(pair.above, true);
  const std::vector<Point> below = hull(pair.below, false);
  HostClock clock;
  clock.origin = pair.origin;
  clock.last = pair.origin;
  clock.messages = pair.count;
  double end = 0;
  for (const auto* points : {&above, &below}) {
    for (const Point& point : *points) {
      end = std::max(end, point.x);
    }
  }
  clock.last = bounded(pair.origin + rounded(end));
  // Lines offset(t) = at_zero + slope · t below all of `above` and above all of `below`.
  const auto highest = [&](double slope) {
    double least = infinite;
    for (const Point& point : above) {
      least = std::min(least, point.y - slope * point.x);
    }
    return least;
  };
  const auto lowest = [&](double slope) {
    double most = -infinite;
    for (const Point& point : below) {
      most = std::max(most, point.y - slope * point.x);
    }
    return most;
  };
  if (above.empty() || below.empty()) {
    clock.quality = ClockQuality::one_way;
    clock.offset = above.empty() ? lowest(0) : highest(0);
  } else {
    double steepest = most_drift;
    double flattest = -most_drift;
    for (const Point& low : below) {
      for (const Point& high : above) {
        const double slope = (high.y - low.y) / (high.x - low.x);
        if (high.x > low.x) {
          steepest = std::min(steepest, slope);
        } else if (high.x < low.x) {
          flattest = std::max(flattest, slope);
        }
      }
    }
    // If a clock was set while it ran, no line fits; the middle is as good as any.
    steepest = std::clamp(steepest, -most_drift, most_drift);
    flattest = std::clamp(flattest, -most_drift, most_drift);
    clock.quality = ClockQuality::accurate;
    clock.drift = (steepest + flattest) / 2;
    clock.offset = (highest(clock.drift) + lowest(clock.drift)) / 2;
    const double from = std::min(steepest, flattest);
    const double to = std::max(steepest, flattest);
    for (std::size_t i = 0; i <= steps; ++i) {
      const double time = end * static_cast<double>(i) / steps;
      const double middle = clock.offset + clock.drift * time;
      double width = 0;
      // The bounds of the band are reached at the steepest or flattest slope, or where a line
      // touches two points. They are straight between such slopes, so a fine grid is near enough.
      for (std::size_t k = 0; k <= steps; ++k) {
        const double slope = from + (to - from) * static_cast<double>(k) / steps;
        width = std::max(
            {width, highest(slope) + slope * time - middle, middle - lowest(slope) - slope * time});
      }
      clock.uncertainty.push_back(width);
    }
  }
  if (inverse) {
    clock.origin = bounded(clock.origin + rounded(clock.offset));
    clock.last = bounded(clock.last + rounded(clock.offset + clock.drift * end));
    clock.offset = -clock.offset;
    clock.drift = 1 / (1 + clock.drift) - 1;
  }
  return clock;
}

HostClock ClockEstimator::compose(const HostClock& near, const HostClock& far) {
  HostClock clock = far;
  clock.origin = near.to_reference(far.origin);
  clock.last = near.to_reference(far.last);
  clock.offset = nanoseconds(far.origin - clock.origin) + far.offset;
  clock.drift = (1 + near.drift) * (1 + far.drift) - 1;
  clock.quality = std::max(near.quality, far.quality);
  for (std::size_t i = 0; i < clock.uncertainty.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(clock.uncertainty.size() - 1);
    const auto more =
        near.uncertainty_at(clock.origin + rounded(share * nanoseconds(clock.last - clock.origin)));
    clock.uncertainty[i] += more ? nanoseconds(*more) : 0;
  }
  if (near.quality != ClockQuality::reference && near.uncertainty.empty()) {
    clock.uncertainty.clear();
  }
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
      return clock.uncertainty.empty() ? infinite : clock.uncertainty[clock.uncertainty.size() / 2];
    };
    for (const auto& [ends, pair] : pairs_) {
      const std::size_t a = ends.first.value();
      const std::size_t b = ends.second.value();
      if (a >= hosts || b >= hosts || known[a] == known[b]) {
        continue;
      }
      HostClock clock = line(pair, known[b]);
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
