#include "takt/curves/execution_time_curve.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "takt/curves/saturating.hpp"

namespace takt::curves {

namespace {

bool cheaper(const ExecutionTimeCurve::Slope& a, const ExecutionTimeCurve::Slope& b) {
  return a.cost * b.instances < b.cost * a.instances;  // fits: longest_time · most_values
}

}  // namespace

ExecutionTimeCurve::ExecutionTimeCurve(std::span<const Duration> values) : given_(values.size()) {
  assert(!values.empty() && values.size() <= most_values && values.back() <= longest_time);
  slope_ = {.cost = values[0], .instances = 1};
  if (given_ == 1) return;
  table_.reserve(given_ + 1);
  table_.emplace_back(0);
  table_.insert(table_.end(), values.begin(), values.end());
  for (std::size_t n = 2; n <= given_; ++n) {
    const Slope slope{.cost = table_[n], .instances = static_cast<std::int64_t>(n)};
    if (cheaper(slope, slope_)) slope_ = slope;
  }
  // A best split of n into given pieces needs fewer than `period` pieces other than the cheapest
  // stretch: among `period` of them some add up to a multiple of `period` instances, and cheapest
  // stretches in their place cost no more. So from the following n on, every best split contains a
  // cheapest stretch and the curve repeats with that period.
  const auto period = static_cast<std::size_t>(slope_.instances);
  constexpr std::size_t looked_up = 64;  // without arithmetic, for speed
  longest_ = std::max({given_, (period - 1) * given_ + period, looked_up});
}

Duration ExecutionTimeCurve::beyond_table(std::int64_t n) const {
  const auto longest = static_cast<std::int64_t>(longest_);
  if (n > longest) {
    const std::int64_t stretches = (n - longest - 1) / slope_.instances + 1;
    return saturating_add(saturating_multiply(slope_.cost, stretches),
                          (*this)(n - stretches * slope_.instances));
  }
  while (table_.size() <= static_cast<std::size_t>(n)) {
    const std::size_t next = table_.size();
    Duration least = unbounded_time;
    for (std::size_t a = 1; a <= given_; ++a) {
      least = std::min(least, saturating_add(table_[next - a], table_[a]));
    }
    table_.push_back(least);
  }
  return table_[static_cast<std::size_t>(n)];
}

std::optional<SplitViolation> find_sub_additivity_violation(std::span<const Duration> values) {
  for (std::size_t total = 2; total <= values.size(); ++total) {
    for (std::size_t m = 1; m <= total / 2; ++m) {
      if (values[m - 1] + values[total - m - 1] < values[total - 1]) {
        return SplitViolation{.m = m, .n = total - m};
      }
    }
  }
  return std::nullopt;
}

std::vector<Duration> merge_costs(std::vector<Duration> a, std::vector<Duration> b) {
  if (a.empty() || b.empty()) return a.empty() ? std::move(b) : std::move(a);
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
  for (std::size_t n = 0; n < size; ++n) a[n] = std::max(a[n], b[n]);
  return a;
}

std::vector<Duration> as_costs(std::span<const std::int64_t> counts) {
  std::vector<Duration> costs(counts.size());
  std::ranges::transform(counts, costs.begin(), [](std::int64_t count) { return Duration{count}; });
  return costs;
}

std::vector<std::int64_t> as_counts(std::span<const Duration> costs) {
  std::vector<std::int64_t> counts(costs.size());
  std::ranges::transform(costs, counts.begin(), &Duration::count);
  return counts;
}

std::vector<Duration> scaled(std::span<const Duration> curve, int percent) {
  std::vector<Duration> result;
  result.reserve(curve.size());
  for (const Duration time : curve) {
    const Duration rest = (time % 100 * percent + Duration{99}) / 100;
    result.push_back(
        std::min(saturating_add(saturating_multiply(time / 100, percent), rest), longest_time));
  }
  return result;
}

}  // namespace takt::curves
