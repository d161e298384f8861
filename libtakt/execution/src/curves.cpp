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

/// Shortest spans, with one more value that an observation of this length shows, where one is
/// needed.
std::vector<Duration> completed(std::vector<Duration> values, Duration observed) {
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

}  // namespace

void CostCurve::add(Duration cost, Instant when) {
  cost = bounded(std::max(cost, Duration(0)));
  if (window_.empty() || cost > largest_) {
    without_ = values();
    with_.clear();
    largest_ = cost;
    time_of_largest_ = when;
    since_ = 0;
  } else {
    ++since_;
  }
  push(window_, next_, cost);
  with_.resize(window_.size());
  // The newest windows up to this length do not reach back to the largest cost.
  const std::size_t shorter = std::min(since_, window_.size());
  without_.resize(std::max(without_.size(), shorter));
  Duration sum{};
  for (std::size_t n = 0; n < window_.size(); ++n) {
    sum = bounded(sum + newest(window_, next_, n));
    Duration& value = n < shorter ? without_[n] : with_[n];
    value = std::max(value, sum);
  }
}

std::vector<Duration> CostCurve::values() const {
  std::vector<Duration> values = with_;
  values.resize(std::max(with_.size(), without_.size()));
  for (std::size_t n = 0; n < without_.size(); ++n) values[n] = std::max(values[n], without_[n]);
  return values;
}

void DistanceCurve::add(Instant activation) { add(activation, activation); }

void DistanceCurve::add(Instant earliest, Instant latest) {
  if (!window_.empty()) {
    const Instant before = newest(window_, next_, 0);
    earliest = std::max(earliest, before);
    latest = std::max(latest, earliest);
    const Duration gap = bounded(latest - before);
    if (gap < shortest_) {
      without_ = values();
      with_.assign(without_.size(), Duration::max());
      shortest_ = gap;
      time_of_shortest_ = latest;
      since_ = 0;
    } else {
      ++since_;
    }
  }
  push(window_, next_, earliest);
  with_.resize(window_.size(), Duration::max());
  without_.resize(window_.size(), Duration::max());
  without_.front() = Duration{0};
  // The newest windows of up to so many activations do not reach back to the shortest time.
  const std::size_t shorter = std::min(since_ + 1, window_.size());
  for (std::size_t n = 1; n < window_.size(); ++n) {
    Duration& value = n < shorter ? without_[n] : with_[n];
    value = std::min(value, bounded(latest - newest(window_, next_, n)));
  }
}

std::vector<Duration> DistanceCurve::values() const {
  std::vector<Duration> values = with_;
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = std::min(values[n], without_[n]);
  return values;
}

std::vector<Duration> DistanceCurve::bounded_by(Duration observed) const {
  return completed(values(), observed);
}

std::vector<Duration> DistanceCurve::bounded_without_shortest(Duration observed) const {
  std::vector<Duration> values = without_;
  std::erase(values, Duration::max());
  return values.size() < 2 ? std::vector<Duration>() : completed(std::move(values), observed);
}

}  // namespace takt::execution
