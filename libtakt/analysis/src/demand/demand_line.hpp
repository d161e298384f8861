#pragma once

#include <optional>

#include "system/system.hpp"
#include "takt/base/int128.hpp"
#include "takt/curves/derived_curve.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

/// Lines below the demand and above the supply, in integers, so that conclusions from them are
/// certain.
namespace takt::analysis {

/// Shares of a processor are counted in units of 2^-40, and processor time in units of 2^-40 ns.
inline constexpr int unit_bits = 40;
inline constexpr Int128 one_processor = Int128{1} << unit_bits;

/// The cost of some instances together.
using CostSlope = curves::ExecutionTimeCurve::Slope;

/// slope·Δ + start.
struct Line {
  Int128 slope = 0;
  Int128 start = 0;
  [[nodiscard]] Int128 operator()(Duration window) const { return slope * window.count() + start; }
};

/// A line above ET(η(Δ)); none if no line fits. The curve must be bounded.
[[nodiscard]] std::optional<Line> demand_line_above(const curves::DerivedCurve& curve,
                                                    const Cost& cost);

/// A line below ET(η(Δ)) for Δ > 0. The curve must be bounded.
[[nodiscard]] Line demand_line(const curves::DerivedCurve& curve, const Cost& cost);
/// The same if `slope.instances` instances together cost `slope.cost`.
[[nodiscard]] Line demand_line(const curves::DerivedCurve& curve, const CostSlope& slope);

/// The share of a processor that activations need if `instances` of them together cost `cost`.
[[nodiscard]] Int128 long_run_share(const curves::DerivedCurve& curve, Duration cost,
                                    std::int64_t instances);

/// The cost of an instance in the long run; a lower bound of ET(1).
[[nodiscard]] Int128 long_run_cost(const Cost& cost);

/// The long-run share: sbf(Δ) is at most this times Δ.
[[nodiscard]] Int128 supplied_share(const curves::SupplyBound& supply);

/// A share as a number that people read.
[[nodiscard]] double in_processors(Int128 share);

}  // namespace takt::analysis
