#include "takt/estimation/region.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "systems.hpp"

namespace takt::estimation {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A region of a function, on a grid.
template <typename Function>
Region sampled(const std::vector<Axis>& axes, Function function, double below = 0) {
  std::vector<double> values;
  std::vector<std::int64_t> index(axes.size());
  std::vector<double> point(axes.size());
  while (true) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      point[i] = axes[i].first + (axes[i].last - axes[i].first) * static_cast<double>(index[i]) /
                                     static_cast<double>(axes[i].count - 1);
    }
    values.push_back(function(point.data()));
    std::size_t axis = axes.size();
    while (axis > 0 && ++index[axis - 1] == axes[axis - 1].count) index[--axis] = 0;
    if (axis == 0) break;
  }
  return Region::make(axes, values, below, "region").value();
}

TEST(Region, InterpolatesMultilinearFunctionsExactlyAndRoundsOutwards) {
  const auto function = [](const double* x) {
    return 1 + 2 * x[0] - 3 * x[1] + x[2] * (0.5 - x[0] * x[1]);
  };
  const Region region = sampled({{-1, 2, 7}, {0, 5, 11}, {-3, -1, 4}}, function);
  Draw draw(1);
  for (int i = 0; i < 1000; ++i) {
    const std::array<double, 3> point{draw.uniform(-1, 2), draw.uniform(0, 5),
                                      draw.uniform(-3, -1)};
    const double exact = function(point.data());
    EXPECT_GE(region.bound(point.data()), exact);
    EXPECT_LE(region.bound(point.data()), exact + 1e-11);
    std::array<double, 3> slope{};
    region.gradient(point.data(), slope.data());
    EXPECT_NEAR(slope[0], 2 - point[2] * point[1], 1e-9);
    EXPECT_NEAR(slope[1], -3 - point[2] * point[0], 1e-9);
    EXPECT_NEAR(slope[2], 0.5 - point[0] * point[1], 1e-9);
  }
}

TEST(Region, WhatIsOutsideTheGridOrNoNumberIsOutside) {
  const Region region = sampled({{-1, 1, 3}, {0, 1, 2}}, [](const double*) { return -1.0; });
  const auto inside = [&](double x, double y) {
    return region.contains(std::array<double, 2>{x, y}.data());
  };
  EXPECT_TRUE(inside(-1, 0));
  EXPECT_TRUE(inside(1, 1));
  EXPECT_FALSE(inside(std::nextafter(1, 2), 0.5));
  EXPECT_FALSE(inside(0, -1e-300));
  EXPECT_FALSE(inside(nan, 0.5));
  EXPECT_FALSE(inside(0, infinity));
}

TEST(Region, TheStatedErrorMovesTheBorder) {
  const auto distance = [](const double* x) { return std::abs(x[0]) - 0.5; };
  const Region exact = sampled({{-1, 1, 201}}, distance);
  const Region careful = sampled({{-1, 1, 201}}, distance, 0.1);
  const double at = 0.45;
  EXPECT_TRUE(exact.contains(&at));
  EXPECT_FALSE(careful.contains(&at));
  const double deeper = 0.39;
  EXPECT_TRUE(careful.contains(&deeper));
  const double border = 0.5;  // 0 but for rounding, so outside
  EXPECT_FALSE(exact.contains(&border));
}

TEST(Region, TheLargestValueInABoxIsThatOfAFineSearch) {
  Draw draw(2);
  std::vector<double> values(12 * 9);
  for (double& value : values) value = draw.normal();
  const Region region = Region::make({{0, 11, 12}, {0, 8, 9}}, values, 0, "region").value();
  for (int i = 0; i < 200; ++i) {
    const std::array<double, 2> lower{draw.uniform(0, 10), draw.uniform(0, 7)};
    const std::array<double, 2> upper{draw.uniform(lower[0], 11), draw.uniform(lower[1], 8)};
    const double bound = region.bound_of_box(lower.data(), upper.data());
    double most = -infinity;
    for (int a = 0; a <= 60; ++a) {
      for (int b = 0; b <= 60; ++b) {
        const std::array<double, 2> point{lower[0] + (upper[0] - lower[0]) * a / 60,
                                          lower[1] + (upper[1] - lower[1]) * b / 60};
        most = std::max(most, region.bound(point.data()));
      }
    }
    EXPECT_GE(bound, most - 1e-12);
    // The search misses the top by at most the steepest slope times half its step; slopes of these
    // values are below 7 in each direction.
    EXPECT_LE(bound, most + 7 * (11 + 8) / 120.0);
  }
  const std::array<double, 2> inside{1, 1};
  const std::array<double, 2> outside{1, 9};
  EXPECT_EQ(region.bound_of_box(inside.data(), outside.data()), infinity);
  EXPECT_EQ(region.bound_of_box(std::array{2.0, 2.0}.data(), inside.data()), infinity);
  EXPECT_EQ(region.bound_of_box(inside.data(), inside.data()), region.bound(inside.data()));
}

TEST(Region, ABoxOfTooManyNodesIsOutside) {
  const Region region = sampled({{0, 1, 200}, {0, 1, 200}}, [](const double*) { return -1.0; });
  const std::array<double, 2> lower{0.1, 0.1};
  EXPECT_EQ(region.bound_of_box(lower.data(), std::array{0.9, 0.9}.data()), infinity);
  EXPECT_LT(region.bound_of_box(lower.data(), std::array{0.4, 0.4}.data()), 0);
}

TEST(Region, RefusesWhatIsNoGrid) {
  using testing::HasSubstr;
  const auto message = [](std::vector<Axis> axes, std::vector<double> values, double below) {
    return Region::make(std::move(axes), std::move(values), below, "r").error().message;
  };
  EXPECT_THAT(message({}, {}, 0), HasSubstr("r.axes"));
  EXPECT_THAT(message({{1, 1, 2}}, {1, 2}, 0), HasSubstr("last must be above first"));
  EXPECT_THAT(message({{0, infinity, 2}}, {1, 2}, 0), HasSubstr("last must be above first"));
  EXPECT_THAT(message({{0, 1, 1}}, {1}, 0), HasSubstr("count"));
  EXPECT_THAT(message({{0, 1, 3}}, {1, 2}, 0), HasSubstr("2 values for 3 nodes"));
  EXPECT_THAT(message({{0, 1, 2}}, {1, nan}, 0), HasSubstr("not a number"));
  EXPECT_THAT(message({{0, 1, 2}}, {1, 2}, -1), HasSubstr("r.error"));
  EXPECT_THAT(message({{0, 1, 65536}, {0, 1, 65536}}, {}, 0), HasSubstr("nodes"));
}

}  // namespace
}  // namespace takt::estimation
