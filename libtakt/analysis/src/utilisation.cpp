#include "utilisation.hpp"

#include <algorithm>

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::saturating_add;

namespace {

__extension__ using Wide = __int128;

/// Shares of a processor are counted in units of 2^-40.
constexpr Wide unit = Wide{1} << 40;
constexpr Wide most_units = Wide{1} << 60;

/// Beyond this many, more activations at a time make no difference to an overload.
constexpr std::int64_t most_multiplicity = 1'000'000;

/// Rounded down. Fits: events and instances are at most most_values, times at most longest_time.
std::int64_t share(const curves::ActivationCurve::Rate& rate, std::int64_t multiplicity,
                   const curves::ExecutionTimeCurve::Slope& slope) {
  const Wide numerator =
      Wide{rate.events} * std::min(multiplicity, most_multiplicity) * slope.cost.count() * unit;
  const Wide denominator = Wide{rate.span.count()} * slope.instances;
  return static_cast<std::int64_t>(std::min(numerator / denominator, most_units));
}

std::int64_t share(const DerivedCurve& curve, const curves::ExecutionTimeCurve::Slope& slope) {
  std::int64_t sum = 0;
  for (const auto& [source, shift, multiplicity] : curve.terms()) {
    if (source->curve != nullptr) {
      sum = saturating_add(sum, share(source->curve->long_run(), multiplicity, slope));
      continue;
    }
    std::int64_t least = curves::unbounded_count;
    std::int64_t largest = 0;
    for (const DerivedCurve& operand : source->join->operands) {
      if (operand.unbounded()) continue;
      least = std::min(least, share(operand, slope));
      largest = std::max(largest, share(operand, slope));
    }
    const std::int64_t joined = source->join->kind == JoinCurve::Kind::all ? largest : least;
    sum = saturating_add(sum, curves::saturating_multiply(joined, multiplicity));
  }
  return sum;
}

}  // namespace

Utilisation utilisation(std::span<const CallbackIndex> callbacks, const curves::SupplyBound& supply,
                        const System& system, const Curves& curves) {
  std::int64_t demand = 0;
  for (const CallbackIndex callback : callbacks) {
    // The long-run rates of both families agree, but this one does not depend on local bounds.
    const DerivedCurve& activations = curves.busy_activations(callback);
    if (activations.unbounded()) continue;
    const Cost& cost = system[callback].cost;
    demand = saturating_add(demand, share(activations, cost.execution_time().long_run()));
    if (cost.overhead()) {
      demand = saturating_add(demand, share(activations, cost.overhead()->long_run()));
    }
  }
  const Wide budget = Wide{supply.budget().count()} * unit;
  const Wide period = supply.period().count();
  const auto supplied = static_cast<std::int64_t>((budget + period - 1) / period);
  return {.demand = static_cast<double>(demand) / static_cast<double>(unit),
          .supply = static_cast<double>(supplied) / static_cast<double>(unit),
          .overloaded = demand >= supplied};
}

}  // namespace takt::analysis
