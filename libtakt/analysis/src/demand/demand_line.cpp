#include "demand/demand_line.hpp"

#include <algorithm>
#include <cstdint>

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

namespace {

constexpr Int128 unit = Int128{1} << unit_bits;
/// Values beyond these make no difference: lines are cut off there, and so stay below. The share is
/// that of 2^20 processors.
constexpr Int128 most_share = Int128{1} << 60;
constexpr std::int64_t most_multiplicity = 1'000'000;
/// The number of units of an ActivationLine in one unit of a Line.
constexpr Int128 more_units = Int128{1} << (curves::ActivationLine::unit_bits - unit_bits);

/// Fits: events and instances are at most most_values, times at most longest_time.
Int128 share_of(const curves::ActivationCurve::Rate& rate, std::int64_t multiplicity,
                const CostSlope& slope) {
  const Int128 numerator =
      Int128{rate.events} * std::min(multiplicity, most_multiplicity) * slope.cost.count() * unit;
  return std::min(numerator / (Int128{rate.span.count()} * slope.instances), most_share);
}

Line line_of(const curves::DerivedCurve& curve, const CostSlope& slope);

/// The share of the activations of a join, each counted once. The starts of operands do not count.
Int128 share_of(const curves::JoinCurve& join, const CostSlope& slope) {
  Int128 least = most_share;
  Int128 largest = 0;
  for (const curves::DerivedCurve& operand : join.operands()) {
    if (operand.unbounded()) continue;
    const Int128 share = line_of(operand, slope).slope;
    least = std::min(least, share);
    largest = std::max(largest, share);
  }
  return join.kind() == curves::JoinCurve::Kind::all ? largest : least;
}

/// An ActivationLine counts whole activations, so its count is less than one below its value.
Line line_of(const curves::ActivationLine& activations, const CostSlope& slope) {
  if (activations == curves::ActivationLine{}) return {};
  const Int128 share = activations.slope() * slope.cost.count() / slope.instances;
  const Int128 at_once = (activations.start() >> curves::ActivationLine::unit_bits) - 1;
  const Int128 start = std::clamp<Int128>(at_once, 0, most_multiplicity) * slope.cost.count();
  return {.slope = std::min(share / more_units, most_share),
          .start = start * unit / slope.instances};
}

/// For Δ > 0 a term's source has at least rate·(Δ + shift + jitter) activations.
Line line_of(const curves::DerivedCurve& curve, const CostSlope& slope) {
  Line line = line_of(curve.line(), slope);
  for (const auto& [source, shift, multiplicity] : curve.terms()) {
    Int128 share = 0;
    Duration ahead = shift;
    if (source->curve != nullptr) {
      const auto rate = source->curve->long_run();
      share = share_of(rate, multiplicity, slope);
      ahead = curves::saturating_add(ahead, rate.jitter);
    } else {
      share = std::min(share_of(*source->join, slope) * std::min(multiplicity, most_multiplicity),
                       most_share);
    }
    line.slope += share;
    line.start += share * std::min(ahead, curves::longest_time).count();
  }
  return line;
}

/// A line above is not of interest beyond most_share and this, which is more than the longest time.
constexpr Int128 most_start_above = Int128{1} << 100;

/// With ET(n) <= cost·n/instances + cost by sub-additivity; the last cost is not needed if
/// `instances` is 1.
std::optional<Line> line_above(const curves::ActivationLine& activations, const CostSlope& slope) {
  const Int128 divisor = slope.instances * more_units;
  Line line{.slope = activations.slope() * slope.cost.count()};
  if (__builtin_mul_overflow(activations.start(), Int128{slope.cost.count()}, &line.start)) {
    return std::nullopt;
  }
  line.slope = line.slope / divisor + 1;
  line.start = line.start / divisor + 1;
  if (slope.instances > 1) line.start += slope.cost.count() * unit;
  if (line.slope > most_share || line.start > most_start_above) return std::nullopt;
  return line;
}

}  // namespace

std::optional<Line> demand_line_above(const curves::DerivedCurve& curve, const Cost& cost) {
  const auto activations = curve.line_above();
  if (!activations) return std::nullopt;
  std::optional<Line> line = line_above(*activations, cost.execution_time().long_run());
  if (!line || !cost.overhead()) return line;
  const auto overhead = line_above(*activations, cost.overhead()->long_run());
  if (!overhead) return std::nullopt;
  line->slope += overhead->slope;
  line->start += overhead->start;
  return line;
}

Line demand_line(const curves::DerivedCurve& curve, const Cost& cost) {
  Line line = line_of(curve, cost.execution_time().long_run());
  if (cost.overhead()) {
    const Line overhead = line_of(curve, cost.overhead()->long_run());
    line.slope += overhead.slope;
    line.start += overhead.start;
  }
  return line;
}

Line demand_line(const curves::DerivedCurve& curve, const CostSlope& slope) {
  return line_of(curve, slope);
}

Int128 long_run_share(const curves::DerivedCurve& curve, Duration cost, std::int64_t instances) {
  return line_of(curve, {.cost = cost, .instances = instances}).slope;
}

Int128 long_run_cost(const Cost& cost) {
  const auto each = [](const CostSlope& slope) {
    return slope.cost.count() * unit / slope.instances;
  };
  const Int128 execution = each(cost.execution_time().long_run());
  return cost.overhead() ? execution + each(cost.overhead()->long_run()) : execution;
}

Int128 supplied_share(const curves::SupplyBound& supply) {
  static_assert(curves::RemainingSupply::share_bits == unit_bits);
  if (supply.remaining() != nullptr) return supply.remaining()->share();
  const Int128 period = supply.period().count();
  return (supply.budget().count() * unit + period - 1) / period;
}

double in_processors(Int128 share) {
  return static_cast<double>(share) / static_cast<double>(unit);
}

}  // namespace takt::analysis
