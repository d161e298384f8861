#include "takt/simulation/simulate.hpp"

#include <utility>

#include "engine.hpp"
#include "takt/hops/hops.hpp"

namespace takt::simulation {

namespace {

Result<Simulation> run(const model::Model& model, const Options& options,
                       const Progress& progress) {
  Engine engine(model, options);
  if (const Result<void> prepared = engine.prepare(); !prepared) {
    return tl::unexpected(prepared.error());
  }
  return engine.run(progress);
}

}  // namespace

Result<Simulation> simulate(const model::Model& model, const Options& options,
                            const Progress& progress) {
  // In a recorded run messages came when they came.
  if (!hops::has_hops(model) || options.recorded) return run(model, options, progress);
  const hops::ModelWithHops linked = hops::with_hops(model);
  Result<Simulation> simulation = run(linked.model, options, progress);
  if (!simulation) return simulation;
  for (std::size_t i = 0; i < linked.hops.size(); ++i) {
    const hops::Hop& hop = linked.hops[i];
    simulation->links.push_back(
        {.link = model[hop.link].id,
         .from = model[hop.from].id,
         .topic = hop.topic,
         .response_time = std::move(simulation->callbacks[linked.callbacks + i].response_time)});
  }
  simulation->callbacks.resize(linked.callbacks);
  return simulation;
}

}  // namespace takt::simulation
