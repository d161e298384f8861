#include "demand/utilisation.hpp"

namespace takt::analysis {

Int128 long_run_share(CallbackIndex callback, const System& system, const Curves& curves) {
  // The long-run rates of both families agree, but this one does not depend on local bounds.
  const curves::DerivedCurve& activations = curves.busy_activations(callback);
  if (activations.unbounded()) return 0;
  const Duration release = system.executors[system[callback].executor.value()].release_overhead;
  const Int128 share = demand_line(activations, system[callback].cost).slope;
  return release > Duration{0} ? share + long_run_share(activations, release, 1) : share;
}

Utilisation utilisation(std::span<const CallbackIndex> callbacks, const curves::SupplyBound& supply,
                        const System& system, const Curves& curves) {
  Int128 demand = 0;
  for (const CallbackIndex callback : callbacks) demand += long_run_share(callback, system, curves);
  const Int128 supplied = supplied_share(supply);
  return {.demand = in_processors(demand),
          .supply = in_processors(supplied),
          .overloaded = demand >= supplied};
}

bool outpaces(const curves::DerivedCurve& activations, std::int64_t instances, Duration span) {
  return long_run_share(activations, span, instances) >=
         supplied_share(curves::SupplyBound::dedicated());
}

}  // namespace takt::analysis
