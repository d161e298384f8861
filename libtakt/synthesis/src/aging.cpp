#include "takt/synthesis/aging.hpp"

#include <algorithm>

#include "takt/base/int128.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::synthesis {
namespace {

using execution::curve_length;

/// Mixes a share (in millionths) of a with the rest of b, rounded up.
Duration blend(std::int64_t share, Duration a, Duration b) {
  const Int128 sum = Int128{share} * a.count() + Int128{Aging::one - share} * b.count();
  return Duration{static_cast<std::int64_t>((sum + Aging::one - 1) / Aging::one)};
}

/// Raises a curve to the sums of the newest costs.
void raise(std::vector<Duration>& curve, const std::vector<Duration>& window, std::size_t end) {
  curve.resize(std::max(curve.size(), end));
  Duration sum{};
  for (std::size_t n = 0; n < end; ++n) {
    sum = bounded(sum + window[end - 1 - n]);
    curve[n] = std::max(curve[n], sum);
  }
}

}  // namespace

Result<void> check(const Aging& aging) {
  const auto is_share = [](std::int64_t share) { return share >= 0 && share <= Aging::one; };
  if (aging.period < static_cast<std::int64_t>(curve_length)) {
    return error("the period must be at least {} instances", curve_length);
  }
  if (!is_share(aging.weight) || !is_share(aging.threshold)) {
    return error("weight and threshold must be from 0 to 1");
  }
  if (aging.margin < 0 || aging.margin > 1000 * Aging::one) {
    return error("the margin must be from 0 to 1000");
  }
  return {};
}

void AgingCurve::add(Duration cost) {
  // Within the range of models, so that sums and products stay within that of numbers.
  cost = std::clamp(cost, Duration{0}, curves::longest_time);
  cost = std::min(blend(aging_.margin, cost + cost, cost), curves::longest_time);
  if (window_.size() == curve_length) {
    window_.erase(window_.begin());
  }
  window_.push_back(cost);
  raise(values_, window_, window_.size());
  raise(recent_, window_, window_.size());
  if (++since_ >= aging_.period) {
    if (Int128{recent_.front().count()} * Aging::one <
        Int128{values_.front().count()} * aging_.threshold) {
      merge();
    }
    recent_.clear();
    since_ = 0;
  }
}

void AgingCurve::merge() {
  for (std::size_t n = 0; n < values_.size(); ++n) {
    values_[n] = blend(aging_.weight, recent_[n], values_[n]);
  }
  for (std::size_t end = 1; end <= window_.size(); ++end) {
    raise(values_, window_, end);
  }
  // `recent_` is not sub-additive: some of its windows began before the last comparison.
  for (std::size_t n = 1; n < values_.size(); ++n) {
    for (std::size_t m = 0; m < n; ++m) {
      values_[n] = std::min(values_[n], values_[m] + values_[n - 1 - m]);
    }
  }
}

}  // namespace takt::synthesis
