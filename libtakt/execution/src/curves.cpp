#include "takt/execution/curves.hpp"

#include <algorithm>
#include <utility>

namespace takt::execution {
namespace {

/// Puts a value into a ring of curve_length; `next` is the position after the newest.
template <typename T>
void push(std::vector<T>& ring, std::size_t& next, T value) {
  if (ring.size() < curve_length) {
    ring.push_back(value);
  } else {
    ring[next] = value;
  }
  next = (next + 1) % curve_length;
}

/// The n-th newest value of such a ring, from 0.
template <typename T>
T newest(const std::vector<T>& ring, std::size_t next, std::size_t n) {
  return ring[(next + curve_length - 1 - n) % curve_length];
}

}  // namespace

void CostCurve::add(Duration cost) {
  push(window_, next_, bounded(std::max(cost, Duration(0))));
  values_.resize(window_.size());
  Duration sum{};
  for (std::size_t n = 0; n < window_.size(); ++n) {
    sum = bounded(sum + newest(window_, next_, n));
    values_[n] = std::max(values_[n], sum);
  }
}

std::vector<Duration> merge_costs(std::vector<Duration> a, std::vector<Duration> b) {
  if (a.empty() || b.empty()) {
    return a.empty() ? std::move(b) : std::move(a);
  }
  const auto extend = [](std::vector<Duration>& curve, std::size_t size) {
    while (curve.size() < size) {
      Duration least = Duration::max();
      for (std::size_t m = 0; m < curve.size(); ++m) {
        least = std::min(least, curve[m] + curve[curve.size() - 1 - m]);
      }
      curve.push_back(bounded(least));
    }
  };
  const std::size_t size = std::max(a.size(), b.size());
  extend(a, size);
  extend(b, size);
  for (std::size_t n = 0; n < size; ++n) {
    a[n] = std::max(a[n], b[n]);
  }
  return a;
}

void DistanceCurve::add(Instant activation) {
  if (!window_.empty()) {
    activation = std::max(activation, newest(window_, next_, 0));
  }
  push(window_, next_, activation);
  values_.resize(window_.size(), Duration::max());
  for (std::size_t n = 0; n < window_.size(); ++n) {
    values_[n] = std::min(values_[n], bounded(activation - newest(window_, next_, n)));
  }
}

std::vector<Duration> DistanceCurve::bounded_by(Duration observed) const {
  std::vector<Duration> values = values_;
  if (values.empty()) {
    return values;
  }
  if (values.size() < curve_length || values.back() == Duration(0)) {
    Duration next = std::max(observed, epsilon);
    for (std::size_t m = 1; m < values.size(); ++m) {
      next = std::max(next, values[m] + values[values.size() - m]);
    }
    values.push_back(next);
  }
  return values;
}

}  // namespace takt::execution
