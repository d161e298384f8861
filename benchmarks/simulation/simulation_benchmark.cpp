#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "takt/model/json.hpp"
#include "takt/simulation/simulate.hpp"

/// Callback events (activations, starts, completions) per second of one core.
namespace takt::simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Executors of that kind, each with two timers that head chains of five callbacks.
model::Model chains(int executors, model::ExecutorKind kind, const model::Supply& supply) {
  model::Model model;
  for (int e = 0; e < executors; ++e) {
    model::Executor& executor = model.executors.emplace_back();
    executor.id = fmt::format("e{}", e);
    executor.kind = kind;
    executor.order = model::CallbackOrder::registered;
    executor.supply = supply;
    for (int chain = 0; chain < 2; ++chain) {
      model::Chain& described = model.chains.emplace_back();
      described.id = fmt::format("chain{}.{}", e, chain);
      for (int i = 0; i < 5; ++i) {
        const model::CallbackIndex index(model.callbacks.size());
        model::Callback& callback = model.callbacks.emplace_back();
        callback.id = fmt::format("c{}", index.value());
        callback.executor = model::ExecutorIndex(static_cast<std::size_t>(e));
        callback.execution_time = {microseconds(300)};
        callback.registration = i;
        callback.kind = i == 0 ? model::CallbackKind::timer : model::CallbackKind::subscription;
        if (i == 0) {
          callback.activation = model::PeriodicActivation{milliseconds(10 + 3 * chain + e % 7), {}};
        } else {
          model::Edge edge;
          edge.from = described.callbacks.back();
          edge.to = index;
          model.edges.push_back(edge);
        }
        described.callbacks.push_back(index);
      }
    }
  }
  return model;
}

void run(benchmark::State& state, const model::Model& model, Options options) {
  std::int64_t events = 0;
  for (auto _ : state) {
    const Result<Simulation> simulation = simulate(model, options);
    if (!simulation) {
      state.SkipWithError(simulation.error().message.c_str());
      return;
    }
    events += simulation->events;
  }
  state.SetItemsProcessed(events);
}

void kinds(benchmark::State& state, model::ExecutorKind kind) {
  Options options;
  options.duration = std::chrono::seconds(20);
  run(state, chains(static_cast<int>(state.range(0)), kind, model::DedicatedSupply{}), options);
}
BENCHMARK_CAPTURE(kinds, single_threaded, model::ExecutorKind::single_threaded)->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(kinds, events, model::ExecutorKind::events)->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(kinds, fixed_priority, model::ExecutorKind::fixed_priority)->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(kinds, edf, model::ExecutorKind::edf)->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(kinds, chain_priority, model::ExecutorKind::chain_priority)->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(kinds, graph_aware, model::ExecutorKind::graph_aware)->Arg(1)->Arg(16);

void random_reservations(benchmark::State& state) {
  Options options;
  options.duration = std::chrono::seconds(20);
  options.releases = ReleaseModel::random;
  options.execution = ExecutionModel::random;
  const model::ReservationSupply half{milliseconds(3), milliseconds(5), milliseconds(5)};
  run(state, chains(16, model::ExecutorKind::single_threaded, half), options);
}
BENCHMARK(random_reservations);

void shared_cores(benchmark::State& state) {
  Options options;
  options.duration = std::chrono::seconds(20);
  options.cores = 4;
  const model::ReservationSupply share{milliseconds(2), milliseconds(10), milliseconds(10)};
  run(state, chains(16, model::ExecutorKind::single_threaded, share), options);
}
BENCHMARK(shared_cores);

void reference_system(benchmark::State& state) {
  std::ifstream file(TAKT_SOURCE_DIR "/models/autoware_reference_system.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Result<model::ParsedModel> parsed = model::parse(text, "autoware_reference_system.json");
  if (!parsed) {
    state.SkipWithError(parsed.error().message.c_str());
    return;
  }
  Options options;
  options.duration = std::chrono::seconds(100);
  run(state, parsed->model, options);
}
BENCHMARK(reference_system);

}  // namespace
}  // namespace takt::simulation
