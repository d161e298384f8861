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
    demand += demand_line(activations, system[callback].cost).slope;
  }
  const Wide supplied = supplied_share(supply);
  return {.demand = in_processors(demand),
          .supply = in_processors(supplied),
          .overloaded = demand >= supplied};
}

}  // namespace takt::analysis
