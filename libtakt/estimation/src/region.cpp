#include "takt/estimation/region.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace takt::estimation {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

/// The node below a point along each axis, and how far on to the next one it is.
struct Region::Cell {
  std::array<double, most_axes> share{};
  std::array<std::size_t, most_axes> node{};
};

Result<Region> Region::make(std::vector<Axis> axes, std::vector<double> values, double below,
                            std::string_view path) {
  if (axes.empty() || axes.size() > most_axes) {
    return error("{}.axes: must be 1 to {}", path, most_axes);
  }
  std::size_t nodes = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    if (!std::isfinite(axis.first) || !std::isfinite(axis.last) || !(axis.first < axis.last) ||
        !std::isfinite(axis.last - axis.first)) {
      return error("{}.axes[{}]: last must be above first", path, i);
    }
    if (axis.count < 2 || axis.count > 65536) {
      return error("{}.axes[{}].count: must be 2 to 65536", path, i);
    }
    nodes *= static_cast<std::size_t>(axis.count);
    if (nodes > most_nodes) {
      return error("{}.axes: more than {} nodes", path, most_nodes);
    }
  }
  if (values.size() != nodes) {
    return error("{}: {} values for {} nodes", path, values.size(), nodes);
  }
  if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) {
    return error("{}: a value is infinite or not a number", path);
  }
  if (!std::isfinite(below) || below < 0) {
    return error("{}.error: must be finite and not negative", path);
  }
  return Region(std::move(axes), std::move(values), below);
}

Region::Region(std::vector<Axis> axes, std::vector<double> values, double below)
    : axes_(std::move(axes)), values_(std::move(values)), strides_(axes_.size()) {
  std::size_t stride = 1;
  double nodes = 0;
  for (std::size_t i = axes_.size(); i-- > 0;) {
    const Axis& axis = axes_[i];
    strides_[i] = stride;
    stride *= static_cast<std::size_t>(axis.count);
    steps_.push_back((axis.last - axis.first) / static_cast<double>(axis.count - 1));
    // The position within an axis is rounded a few times, relative to the axis's largest number.
    const double reach = std::max(std::abs(axis.first), std::abs(axis.last));
    nodes += static_cast<double>(axis.count) + reach / steps_.back();
  }
  std::ranges::reverse(steps_);
  double most = 0;
  for (const double value : values_) most = std::max(most, std::abs(value));
  // Along each axis the position is wrong by at most 4 roundings. The steepest possible slope, 2
  // `most` a node, multiplies this error; each of the interpolations adds 3 roundings of a value.
  const double rounding = std::numeric_limits<double>::epsilon() * most *
                          (8 * nodes + 3 * static_cast<double>(std::size_t{1} << axes_.size()));
  margin_ = below + rounding;
}

bool Region::locate(const double* point, Cell& cell) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    if (!(point[i] >= axis.first && point[i] <= axis.last)) return false;
    const double position = (point[i] - axis.first) / steps_[i];
    const auto last_cell = static_cast<double>(axis.count - 2);
    const double node = std::min(std::floor(position), last_cell);
    cell.node[i] = static_cast<std::size_t>(node);
    cell.share[i] = std::clamp(position - node, 0.0, 1.0);
  }
  return true;
}

double Region::interpolate(const Cell& cell) const {
  const std::size_t axes = axes_.size();
  const std::size_t corners = std::size_t{1} << axes;
  std::size_t base = 0;
  for (std::size_t i = 0; i < axes; ++i) base += cell.node[i] * strides_[i];
  // Corner c is one node on along axis i if bit i of c is set; each axis halves the corners.
  std::array<double, std::size_t{1} << most_axes> corner;  // NOLINT: all that is read is written
  corner[0] = values_[base];
  std::array<std::size_t, std::size_t{1} << most_axes> offset;  // NOLINT
  offset[0] = base;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t half = std::size_t{1} << i;
    for (std::size_t c = 0; c < half; ++c) {
      offset[half + c] = offset[c] + strides_[i];
      corner[half + c] = values_[offset[half + c]];
    }
  }
  std::size_t left = corners;
  for (std::size_t i = axes; i-- > 0;) {
    left /= 2;
    const double share = cell.share[i];
    for (std::size_t c = 0; c < left; ++c) {
      corner[c] = (1 - share) * corner[c] + share * corner[left + c];
    }
  }
  return corner[0];
}

double Region::bound(const double* point) const {
  Cell cell;
  return locate(point, cell) ? interpolate(cell) + margin_ : infinity;
}

double Region::bound_of_box(const double* lower, const double* upper) const {
  const std::size_t axes = axes_.size();
  Cell low;
  Cell high;
  if (!locate(lower, low) || !locate(upper, high)) return infinity;
  // Along each axis: the lower end, the nodes strictly between, the upper end.
  std::array<std::size_t, most_axes> tried{};
  std::size_t points = 1;
  for (std::size_t i = 0; i < axes; ++i) {
    if (!(lower[i] <= upper[i])) return infinity;
    tried[i] = 2 + high.node[i] - low.node[i];
    if (tried[i] > most_tried) return infinity;
    points *= tried[i];
    if (points > most_tried) return infinity;
  }
  std::array<std::size_t, most_axes> index{};
  double most = -infinity;
  for (std::size_t point = 0; point < points; ++point) {
    Cell cell;
    for (std::size_t i = 0; i < axes; ++i) {
      if (index[i] == 0) {
        cell.node[i] = low.node[i];
        cell.share[i] = low.share[i];
      } else if (index[i] == tried[i] - 1) {
        cell.node[i] = high.node[i];
        cell.share[i] = high.share[i];
      } else {
        cell.node[i] = low.node[i] + index[i];
        cell.share[i] = 0;
      }
    }
    most = std::max(most, interpolate(cell));
    for (std::size_t i = 0; i < axes && ++index[i] == tried[i]; ++i) index[i] = 0;
  }
  return most + margin_;
}

void Region::gradient(const double* point, double* derivative) const {
  std::array<double, most_axes> inside{};
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    inside[i] = std::clamp(point[i], axes_[i].first, axes_[i].last);
  }
  Cell cell;
  if (!locate(inside.data(), cell)) {  // a coordinate is not a number
    std::fill_n(derivative, axes_.size(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    Cell low = cell;
    Cell high = cell;
    low.share[i] = 0;
    high.share[i] = 1;
    derivative[i] = (interpolate(high) - interpolate(low)) / steps_[i];
  }
}

bool Region::is_empty() const {
  return std::ranges::none_of(values_, [&](double value) { return value + margin_ <= 0; });
}

}  // namespace takt::estimation
