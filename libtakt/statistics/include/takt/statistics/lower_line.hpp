#pragma once

#include <optional>
#include <vector>

namespace takt::statistics {

struct Point {
  double x = 0;
  double y = 0;
};

/// A straight line through a point.
struct Line {
  Point at;
  double slope = 0;
};

/// The points that a straight line below all of them can touch, by ascending x; of points with the
/// same x, the lowest. O(n log n).
[[nodiscard]] std::vector<Point> lower_hull(std::vector<Point> points);

/// The straight line below all points whose distance to them is least on average; its point is one
/// that it touches. None without points; flat if all have the same x. For times that are late but
/// never early, this is the best guess of what they are late against (Moon, Skelly, Towsley:
/// Estimation and Removal of Clock Skew from Network Delay Measurements, INFOCOM 1999): if evenly
/// spread points are up to d late, the line rises by at most 2 d too much or too little over their
/// width, whichever of them are early. O(n log n).
[[nodiscard]] std::optional<Line> lower_line(std::vector<Point> points);

}  // namespace takt::statistics
