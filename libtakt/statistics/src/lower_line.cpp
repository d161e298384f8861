#include "takt/statistics/lower_line.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace takt::statistics {

std::vector<Point> lower_hull(std::vector<Point> points) {
  std::ranges::sort(
      points, [](const Point& a, const Point& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  std::vector<Point> kept;
  for (const Point& point : points) {
    if (!kept.empty() && kept.back().x == point.x) continue;
    while (kept.size() > 1) {
      const Point& a = kept[kept.size() - 2];
      const Point& b = kept.back();
      const double turn = (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x);
      if (turn > 0) break;
      kept.pop_back();
    }
    kept.push_back(point);
  }
  return kept;
}

std::optional<Line> lower_line(std::vector<Point> points) {
  if (points.empty()) return std::nullopt;
  double middle = 0;
  for (const Point& point : points) middle += point.x / static_cast<double>(points.size());
  const std::vector<Point> hull = lower_hull(std::move(points));
  // The mean distance is the one at the mean x, so the hull's edge there is the nearest line.
  if (hull.size() == 1) return Line{hull.front(), 0};
  const auto beyond = std::ranges::upper_bound(hull, middle, {}, &Point::x);
  const auto right = std::clamp(beyond, hull.begin() + 1, hull.end() - 1);
  const auto left = right - 1;
  return Line{*right, (right->y - left->y) / (right->x - left->x)};
}

}  // namespace takt::statistics
