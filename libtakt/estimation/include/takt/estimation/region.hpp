#pragma once

#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/estimation/belief.hpp"

namespace takt::estimation {

/// Equally spaced nodes from first to last.
struct Axis {
  double first = 0;
  double last = 1;
  std::int64_t count = 2;
};

/// A set of points: where a function that is known at the nodes of a grid is at most 0. Between
/// nodes it is interpolated linearly along each axis; outside the grid nothing is in the set.
///
/// Membership is rounded towards "outside". Two numbers are added to the interpolated value:
/// `below`, which comes with the function (how far the interpolated value may be below the true
/// one), and a bound of the rounding of the interpolation itself.
class Region {
 public:
  static constexpr std::size_t most_axes = 8;
  static constexpr std::size_t most_nodes = std::size_t{1} << 25;

  /// `values`: the last axis fastest. Errors name the field below `path`.
  [[nodiscard]] static Result<Region> make(std::vector<Axis> axes, std::vector<double> values,
                                           double below, std::string_view path);

  [[nodiscard]] std::size_t dimensions() const { return axes_.size(); }
  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }

  /// An upper bound of the function at a point, in a time that depends on the number of axes alone;
  /// infinity outside the grid, or if a coordinate is not a number.
  [[nodiscard]] double bound(const double* point) const;
  [[nodiscard]] bool contains(const double* point) const { return bound(point) <= 0; }

  /// The same for the largest value in a box, [lower, upper] along each axis. The interpolated
  /// function is largest at a corner of the box, at a node, or where a line of nodes enters it; all
  /// of these are tried. Infinity if these are more than `most_tried`, so that the time is bounded.
  [[nodiscard]] double bound_of_box(const double* lower, const double* upper) const;
  static constexpr std::size_t most_tried = 8192;

  /// The derivative of the interpolated function; outside the grid, that in the nearest cell.
  void gradient(const double* point, double* derivative) const;

  /// Whether any node is in the set.
  [[nodiscard]] bool is_empty() const;

 private:
  Region(std::vector<Axis> axes, std::vector<double> values, double below);

  struct Cell;
  /// False outside the grid.
  bool locate(const double* point, Cell& cell) const;
  double interpolate(const Cell& cell) const;

  std::vector<Axis> axes_;
  std::vector<double> values_;
  std::vector<std::size_t> strides_;
  std::vector<double> steps_;
  double margin_;  // `below` and rounding
};

}  // namespace takt::estimation
