#include "takt/statistics/lower_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace takt::statistics {
namespace {

double distance(const Line& line, const Point& point) {
  return point.y - line.at.y - line.slope * (point.x - line.at.x);
}

/// Sum of the distances of all points; none if one is below the line.
std::optional<double> distances(const Line& line, const std::vector<Point>& points) {
  double sum = 0;
  for (const Point& point : points) {
    const double above = distance(line, point);
    if (above < -1e-9) return std::nullopt;
    sum += above;
  }
  return sum;
}

/// The least sum over the lines through any two points that have none below them.
double least_distances(const std::vector<Point>& points) {
  double least = std::numeric_limits<double>::infinity();
  for (const Point& a : points) {
    for (const Point& b : points) {
      if (a.x >= b.x) continue;
      const auto sum = distances({a, (b.y - a.y) / (b.x - a.x)}, points);
      if (sum) least = std::min(least, *sum);
    }
  }
  return least;
}

TEST(LowerLine, IsTheNearestOfAllLinesBelowThePoints) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<Point> points{{0, static_cast<double>(random() % 20)},
                              {1, static_cast<double>(random() % 20)}};
    for (std::size_t i = random() % 10; i > 0; --i) {
      points.push_back({static_cast<double>(random() % 12), static_cast<double>(random() % 20)});
    }
    const auto line = lower_line(points);
    ASSERT_TRUE(line);
    const auto sum = distances(*line, points);
    ASSERT_TRUE(sum) << "a point is below the line, round " << round;
    EXPECT_NEAR(*sum, least_distances(points), 1e-9) << "round " << round;
  }
}

/// Of 64 points, those in the middle are the earliest, side by side.
TEST(LowerLine, TwoEarlyPointsSideBySideDoNotTiltIt) {
  std::vector<Point> points;
  for (int i = 0; i < 64; ++i) points.push_back({static_cast<double>(i), 1});
  points[31].y = 0.5;
  points[32].y = 0;
  EXPECT_LE(std::abs(lower_line(points)->slope), 2.0 / 63);
}

TEST(LowerLine, IsFlatBelowOneColumnOfPoints) {
  const auto line = lower_line({{4, 3}, {4, 1}, {4, 2}});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->at.y, 1);
  EXPECT_EQ(line->slope, 0);
  EXPECT_FALSE(lower_line({}));
}

}  // namespace
}  // namespace takt::statistics
