#pragma once

#include "derived_curve.hpp"
#include "system.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

/// What demand and supply tend to: lines below the demand and above the supply, in integers, so
/// that what follows from them is certain.
namespace takt::analysis {

__extension__ using Wide = __int128;

/// Shares of a processor are counted in units of 2^-40, and processor time in units of 2^-40 ns.
inline constexpr int unit_bits = 40;

/// The cost of some instances together.
using CostSlope = curves::ExecutionTimeCurve::Slope;

/// slope·Δ + start.
struct Line {
  Wide slope = 0;
  Wide start = 0;
  [[nodiscard]] Wide operator()(Duration window) const { return slope * window.count() + start; }
};

/// ET(η(Δ)) is nowhere below this line for Δ > 0. Of a bounded curve.
[[nodiscard]] Line demand_line(const DerivedCurve& curve, const Cost& cost);
/// The same where so many instances together cost `slope.cost`.
[[nodiscard]] Line demand_line(const DerivedCurve& curve, const CostSlope& slope);

/// The processor's share that activations need, of which so many instances together cost `cost`.
[[nodiscard]] Wide long_run_share(const DerivedCurve& curve, Duration cost, std::int64_t instances);

/// ET(1) is not below this: what an instance costs in the long run.
[[nodiscard]] Wide long_run_cost(const Cost& cost);

/// sbf(Δ) is nowhere above this times Δ.
[[nodiscard]] Wide supplied_share(const curves::SupplyBound& supply);

/// A share as a number for people.
[[nodiscard]] double in_processors(Wide share);

}  // namespace takt::analysis
