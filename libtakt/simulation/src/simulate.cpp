#include "takt/simulation/simulate.hpp"

#include <cassert>
#include <utility>

#include "engine.hpp"
#include "random.hpp"
#include "takt/base/try.hpp"
#include "takt/hops/hops.hpp"

namespace takt::simulation {

namespace {

Result<Simulation> run(const model::Model& model, const Options& options, const Progress& progress,
                       Observer* observer) {
  Engine engine(model, options, observer);
  TAKT_TRY(engine.prepare());
  return engine.run(progress);
}

}  // namespace

Result<Simulation> simulate(const model::Model& model, const Options& options,
                            const Progress& progress, Observer* observer) {
  // In a recorded run messages came when they came.
  if (!hops::has_hops(model) || options.recorded) {
    return run(model, options, progress, observer);
  }
  assert(observer == nullptr && "messages on links are instances of no callback of the model");
  // How much of a delay passes before the link is another one for each topic and seed.
  Random random(options.seed, Stream::before_link, 0);
  const hops::ModelWithHops linked = hops::with_hops(model, [&](Duration most) {
    return options.releases == ReleaseModel::random ? random.between(Duration{0}, most) : most;
  });
  Simulation simulation = TAKT_TRY(run(linked.model, options, progress, nullptr));
  for (std::size_t i = 0; i < linked.hops.size(); ++i) {
    const hops::Hop& hop = linked.hops[i];
    simulation.links.push_back(
        {.link = model[hop.link].id,
         .from = model[hop.from].id,
         .topic = hop.topic,
         .response_time = std::move(simulation.callbacks[linked.callbacks + i].response_time)});
  }
  simulation.callbacks.resize(linked.callbacks);
  return simulation;
}

}  // namespace takt::simulation
