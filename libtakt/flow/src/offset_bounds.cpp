#include "offset_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace takt::flow {
namespace {

using statistics::Point;

constexpr double unbounded = std::numeric_limits<double>::infinity();
/// Clocks are read to the nanosecond, and offsets are doubles of up to years.
constexpr double reading_error = 100;

using Bounds = std::span<const OffsetBound>;

/// Narrows the ranges of `bounds` by each of these, which loosen by `rate` per time from an offset
/// that grows by `slope`.
void narrow(Bounds bounds, double slope, double rate, std::span<OffsetRange> ranges) {
  const auto sweep = [&](const std::vector<std::size_t>& indices) {
    double high = unbounded;
    double low = -unbounded;
    double before = 0;
    bool is_first = true;
    for (const std::size_t i : indices) {
      const Point& point = bounds[i].point;
      if (!is_first) {
        const double gap = point.x - before;
        high += slope * gap + rate * std::abs(gap);
        low += slope * gap - rate * std::abs(gap);
      }
      is_first = false;
      before = point.x;
      if (bounds[i].is_above) {
        high = std::min(high, point.y);
      } else {
        low = std::max(low, point.y);
      }
      ranges[i].high = std::min(ranges[i].high, high);
      ranges[i].low = std::max(ranges[i].low, low);
      ranges[i].rate = rate;
    }
  };
  std::vector<std::size_t> order(bounds.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  sweep(order);
  std::ranges::reverse(order);
  sweep(order);
}

void set_middle(std::span<OffsetRange> ranges) {
  for (OffsetRange& range : ranges) range.middle = (range.low + range.high) / 2;
}

/// Rates that fit: lines of one of them lie below all bounds from above and above all from below.
class Rates {
 public:
  explicit Rates(double most) : steepest_(most), flattest_(-most) {}

  /// Adds a bound later than all before. False, and nothing is added: no rate fits within `wander`.
  bool add(const OffsetBound& bound, double wander) {
    double steepest = steepest_;
    double flattest = flattest_;
    for (const Point& other : bound.is_above ? below_ : above_) {
      const double time = bound.point.x - other.x;
      const double room = bound.is_above ? bound.point.y - other.y : other.y - bound.point.y;
      if (time <= 0) {
        if (room + reading_error < 0) return false;
        continue;
      }
      if (bound.is_above) {
        steepest = std::min(steepest, (room + reading_error) / time);
      } else {
        flattest = std::max(flattest, -(room + reading_error) / time);
      }
    }
    if (flattest - wander > steepest + wander) return false;
    steepest_ = steepest;
    flattest_ = flattest;
    push(bound.is_above ? above_ : below_, bound.point, bound.is_above ? 1 : -1);
    return true;
  }
  [[nodiscard]] double middle() const { return (steepest_ + flattest_) / 2; }
  [[nodiscard]] double half_width() const { return std::abs(steepest_ - flattest_) / 2; }

 private:
  /// Keeps the points that a line on their outer side can touch.
  static void push(std::vector<Point>& hull, const Point& point, double side) {
    const auto is_inside = [&] {
      const Point& a = hull[hull.size() - 2];
      const Point& b = hull.back();
      return side * ((b.y - a.y) * (point.x - b.x) - (point.y - b.y) * (b.x - a.x)) >= 0;
    };
    while (hull.size() >= 2 && is_inside()) hull.pop_back();
    hull.push_back(point);
  }

  std::vector<Point> above_;
  std::vector<Point> below_;
  double steepest_;
  double flattest_;
};

/// Bounds from `first` to before `end`, and where the offset was in their middle: between the
/// fastest messages of both directions, as far as these tell.
struct Window {
  std::size_t first = 0;
  std::size_t end = 0;
  double time = 0;
  double center = 0;
  /// How far messages that are a little slower than the fastest ones would move the center.
  double tolerance = 0;
};

/// The smallest value and, as the third smallest, how much others exceed it.
struct Fastest {
  double best = unbounded;
  double third = unbounded;
};

Fastest fastest(std::vector<double>& values) {
  const auto third = values.begin() + std::min<std::ptrdiff_t>(2, std::ssize(values) - 1);
  std::ranges::nth_element(values, third);
  return {*std::min_element(values.begin(), third + 1), *third};
}

void look_through(Bounds bounds, double slope, Window& window) {
  std::vector<double> above;
  std::vector<double> below;
  for (std::size_t i = window.first; i < window.end; ++i) {
    const double rest = bounds[i].point.y - slope * (bounds[i].point.x - window.time);
    (bounds[i].is_above ? above : below).push_back(bounds[i].is_above ? rest : -rest);
  }
  const Fastest high = fastest(above);
  const Fastest low = fastest(below);
  window.center = (high.best - low.best) / 2;
  window.tolerance = high.third - high.best + low.third - low.best + reading_error;
}

/// Parts of the time with enough messages of both directions that some of them are fast.
std::vector<Window> windows_of(Bounds bounds) {
  constexpr std::size_t enough = 16;
  std::vector<Window> windows;
  std::size_t above = 0;
  std::size_t below = 0;
  Window next;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    ++(bounds[i].is_above ? above : below);
    next.end = i + 1;
    if (above < enough || below < enough) continue;
    next.time = (bounds[next.first].point.x + bounds[i].point.x) / 2;
    windows.push_back(next);
    next.first = i + 1;
    above = below = 0;
  }
  for (Window& window : windows) look_through(bounds, 0, window);
  // Now the rate around each is known, which tells the fastest messages better.
  const std::vector<Window> rough = windows;
  for (std::size_t i = 0; i < windows.size() && windows.size() > 1; ++i) {
    const Window& before = rough[i > 0 ? i - 1 : 0];
    const Window& after = rough[std::min(i + 1, windows.size() - 1)];
    look_through(bounds, (after.center - before.center) / (after.time - before.time), windows[i]);
  }
  if (!windows.empty()) windows.back().end = bounds.size();
  return windows;
}

/// Whether the centers lie around a straight line as fast messages by chance do: those of
/// neighbours are not alike. Of few windows, nobody knows better.
bool is_straight(std::span<const Window> windows) {
  constexpr std::size_t few = 8;
  constexpr double most_alike = 0.4;
  if (windows.size() < few) return true;
  double time = 0;
  double center = 0;
  for (const Window& window : windows) {
    time += window.time / static_cast<double>(windows.size());
    center += window.center / static_cast<double>(windows.size());
  }
  double spread = 0;
  double growth = 0;
  for (const Window& window : windows) {
    spread += (window.time - time) * (window.time - time);
    growth += (window.time - time) * (window.center - center);
  }
  double alike = 0;
  double all = 0;
  double before = 0;
  for (const Window& window : windows) {
    const double rest = window.center - center - growth / spread * (window.time - time);
    alike += before * rest;
    all += rest * rest;
    before = rest;
  }
  return alike <= most_alike * all;
}

/// Narrows the ranges of bounds that one rate fits. False, and nothing is done: none does.
bool narrow_as_one(Bounds bounds, double most_drift, double most_wander,
                   std::span<OffsetRange> ranges) {
  Rates rates(most_drift);
  for (const OffsetBound& bound : bounds) {
    if (!rates.add(bound, most_wander)) return false;
  }
  narrow(bounds, rates.middle(), most_wander + rates.half_width(), ranges);
  return true;
}

/// Windows that one rate fits.
struct Calm {
  std::span<const Window> windows;
  Rates rates;
};

std::vector<Calm> calm_parts(std::span<const Window> windows, double most_drift,
                             double most_wander) {
  std::vector<Calm> parts;
  const auto add = [most_wander](Rates& rates, const Window& window) {
    Rates wider = rates;
    const bool fits =
        wider.add({{window.time, window.center + window.tolerance}, true}, most_wander) &&
        wider.add({{window.time, window.center - window.tolerance}, false}, most_wander);
    if (fits) rates = std::move(wider);
    return fits;
  };
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (parts.empty() || !add(parts.back().rates, windows[i])) {
      parts.push_back({windows.subspan(i, 0), Rates(most_drift)});
      add(parts.back().rates, windows[i]);
    }
    Calm& last = parts.back();
    last.windows = {last.windows.data(), last.windows.size() + 1};
  }
  return parts;
}

/// The positions at which the clock was set: bounds contradict each other whatever its rate.
std::vector<std::size_t> steps_in(Bounds bounds, double most_drift) {
  std::vector<std::size_t> steps;
  double high = unbounded;
  double low = -unbounded;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const Point& point = bounds[i].point;
    if (i > 0) {
      const double gap = point.x - bounds[i - 1].point.x;
      high += most_drift * gap;
      low -= most_drift * gap;
    }
    const bool is_set =
        bounds[i].is_above ? point.y + reading_error < low : point.y > high + reading_error;
    if (is_set) {
      steps.push_back(i);
      high = unbounded;
      low = -unbounded;
    }
    (bounds[i].is_above ? high : low) =
        bounds[i].is_above ? std::min(high, point.y) : std::max(low, point.y);
  }
  return steps;
}

}  // namespace

OffsetRanges ranges_of(const std::vector<OffsetBound>& bounds, double most_drift,
                       double most_wander) {
  OffsetRanges found;
  for (const OffsetBound& bound : bounds) {
    found.ranges.push_back({bound.point.x, -unbounded, unbounded, 0, most_drift});
  }
  std::vector<std::size_t> borders = steps_in(bounds, most_drift);
  found.steps = borders.size();
  borders.insert(borders.begin(), 0);
  borders.push_back(bounds.size());
  for (std::size_t k = 0; k + 1 < borders.size(); ++k) {
    const Bounds part = Bounds(bounds).subspan(borders[k], borders[k + 1] - borders[k]);
    narrow(part, 0, most_drift, std::span(found.ranges).subspan(borders[k], part.size()));
    const std::vector<Window> windows = windows_of(part);
    const auto all = std::span(found.ranges).subspan(borders[k], part.size());
    if (is_straight(windows) && narrow_as_one(part, most_drift, most_wander, all)) {
      set_middle(all);
      continue;
    }
    set_middle(all);
    const auto calm = calm_parts(windows, most_drift, most_wander);
    ++found.changes;
    for (const Calm& piece : calm) {
      // The rate may have changed within the outermost windows. Where there are no others, it is
      // not known.
      const bool has_begin = &piece == &calm.front();
      const bool has_end = &piece == &calm.back();
      const std::size_t cut = (has_begin ? 0U : 1U) + (has_end ? 0U : 1U);
      if (piece.windows.size() < 2 + cut) continue;
      const auto inner = piece.windows.subspan(has_begin ? 0 : 1, piece.windows.size() - cut);
      const std::size_t first = inner.front().first;
      const auto ranges =
          std::span(found.ranges).subspan(borders[k] + first, inner.back().end - first);
      std::vector<OffsetRange> calm_ranges(ranges.begin(), ranges.end());
      narrow(part.subspan(first, ranges.size()), piece.rates.middle(),
             most_wander + piece.rates.half_width(), calm_ranges);
      for (const Window& window : inner) {
        for (std::size_t i = window.first - first; i < window.end - first; ++i) {
          OffsetRange& range = ranges[i];
          const double middle = (calm_ranges[i].high + calm_ranges[i].low) / 2;
          // A change of the rate may be hidden: in the center here, and in those whose bounds
          // reach here.
          range.high = std::min(range.high, calm_ranges[i].high + 4 * window.tolerance);
          range.low = std::max(range.low, calm_ranges[i].low - 4 * window.tolerance);
          range.middle =
              std::clamp(middle, std::min(range.low, range.high), std::max(range.low, range.high));
          range.rate = calm_ranges[i].rate;
        }
      }
    }
  }
  return found;
}

}  // namespace takt::flow
