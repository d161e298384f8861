#include "utilisation.hpp"

#include "long_run.hpp"

namespace takt::analysis {

Utilisation utilisation(std::span<const CallbackIndex> callbacks, const curves::SupplyBound& supply,
                        const System& system, const Curves& curves) {
  Wide demand = 0;
  for (const CallbackIndex callback : callbacks) {
    // The long-run rates of both families agree, but this one does not depend on local bounds.
    const DerivedCurve& activations = curves.busy_activations(callback);
    if (activations.unbounded()) continue;
    const Duration release = system.executors[system[callback].executor.value()].release_overhead;
    demand += demand_line(activations, system[callback].cost).slope;
    if (release > Duration{0}) demand += long_run_share(activations, release, 1);
  }
  const Wide supplied = supplied_share(supply);
  return {.demand = in_processors(demand),
          .supply = in_processors(supplied),
          .overloaded = demand >= supplied};
}

bool overloaded(std::span<const Load> loads, const curves::SupplyBound& supply) {
  Wide demand = 0;
  for (const auto& [activations, each] : loads) demand += long_run_share(*activations, each, 1);
  return demand >= supplied_share(supply);
}

bool outpaces(const DerivedCurve& activations, std::int64_t instances, Duration span) {
  return long_run_share(activations, span, instances) >=
         supplied_share(curves::SupplyBound::dedicated());
}

}  // namespace takt::analysis
