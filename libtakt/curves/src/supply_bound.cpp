#include "takt/curves/supply_bound.hpp"

#include <algorithm>

#include "takt/curves/saturating.hpp"

namespace takt::curves {

Duration SupplyBound::supply(Duration window) const {
  if (budget_ == period_) return std::max(Duration{0}, window - blackout_);
  const Duration served = window - blackout_;
  if (served <= Duration{0}) return Duration{0};
  const std::int64_t periods = served / period_;
  return periods * budget_ + std::min(budget_, served - periods * period_);
}

Duration SupplyBound::time_for(Duration demand) const {
  if (demand <= Duration{0}) return Duration{0};
  if (budget_ == period_) return saturating_add(blackout_, demand);
  const std::int64_t full = (demand - epsilon) / budget_;
  return saturating_add(saturating_multiply(period_, full),
                        saturating_add(blackout_, demand - full * budget_));
}

}  // namespace takt::curves
