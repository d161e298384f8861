#include "takt/curves/activation_curve.hpp"

#include <algorithm>
#include <cassert>

#include "takt/curves/saturating.hpp"

namespace takt::curves {

ActivationCurve ActivationCurve::periodic(Duration period, Duration jitter) {
  assert(period > Duration{0} && jitter >= Duration{0});
  ActivationCurve curve;
  curve.rate_ = {.events = 1, .span = period, .jitter = jitter};
  return curve;
}

ActivationCurve ActivationCurve::min_distance(std::span<const Duration> values) {
  assert(values.size() >= 2 && values.size() <= most_values);
  assert(values.front() == Duration{0} && values.back() > Duration{0});
  assert(values.back() <= longest_time);
  ActivationCurve curve;
  curve.gaps_.assign(values.begin(), values.end());
  curve.given_ = values.size() - 1;
  // The stretch of given gaps that is sparsest on average determines the long run.
  std::size_t sparsest = curve.given_;
  for (std::size_t k = 1; k < curve.given_; ++k) {
    const auto gaps = static_cast<std::int64_t>(k);
    if (curve.gaps_[k] * static_cast<std::int64_t>(sparsest) > curve.gaps_[sparsest] * gaps) {
      sparsest = k;
    }
  }
  curve.rate_ = {.events = static_cast<std::int64_t>(sparsest),
                 .span = curve.gaps_[sparsest],
                 .jitter = Duration{0}};
  // Where it repeats: as for ExecutionTimeCurve, with spans of gaps in place of costs of instances.
  curve.longest_ = std::max(curve.given_, (sparsest - 1) * curve.given_ + sparsest);
  return curve;
}

Duration ActivationCurve::span_of_gaps(std::int64_t gaps) const {
  const auto longest = static_cast<std::int64_t>(longest_);
  if (gaps > longest) {
    const std::int64_t stretches = (gaps - longest - 1) / rate_.events + 1;
    return saturating_add(saturating_multiply(rate_.span, stretches),
                          span_of_gaps(gaps - stretches * rate_.events));
  }
  while (gaps_.size() <= static_cast<std::size_t>(gaps)) {
    const std::size_t next = gaps_.size();
    Duration longest_split{0};
    for (std::size_t a = 1; a <= given_; ++a) {
      longest_split = std::max(longest_split, saturating_add(gaps_[next - a], gaps_[a]));
    }
    gaps_.push_back(longest_split);
  }
  return gaps_[static_cast<std::size_t>(gaps)];
}

ActivationCurve::Plateau ActivationCurve::plateau_by_distance(Duration window) const {
  if (window == unbounded_time) return {unbounded_count, unbounded_time};
  while (gaps_.back() < window && gaps_.size() <= longest_) {
    (void)span_of_gaps(static_cast<std::int64_t>(gaps_.size()));
  }
  // Remove whole repetitions until the window lies within the table, which is as long as it gets.
  std::int64_t repeated = 0;
  Duration removed{0};
  if (gaps_.back() < window) {
    repeated = (window - gaps_.back() - epsilon) / rate_.span + 1;
    removed = repeated * rate_.span;
  }
  const auto first_too_long = std::ranges::lower_bound(gaps_, window - removed);
  const std::int64_t within = first_too_long - gaps_.begin();
  return {saturating_add(saturating_multiply(rate_.events, repeated), within),
          saturating_add(*first_too_long, removed)};
}

std::optional<SplitViolation> find_super_additivity_violation(std::span<const Duration> values) {
  for (std::size_t total = 3; total <= values.size(); ++total) {
    for (std::size_t m = 2; m <= (total + 1) / 2; ++m) {
      const std::size_t n = total + 1 - m;
      if (values[m - 1] + values[n - 1] > values[total - 1]) return SplitViolation{.m = m, .n = n};
    }
  }
  return std::nullopt;
}

}  // namespace takt::curves
