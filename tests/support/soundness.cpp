#include "takt/soundness/soundness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "takt/generation/shrink.hpp"
#include "takt/hops/hops.hpp"
#include "takt/model/inferred_joins.hpp"
#include "takt/model/names.hpp"
#include "takt/policy/describe.hpp"
#include "takt/simulation/simulate.hpp"

namespace takt::soundness {

namespace {

using simulation::Options;

constexpr Duration horizon{20'000};
constexpr int random_simulations = 4;
/// For each model whose schedules are explored: most of those that end at all end within it.
constexpr std::int64_t exploration_effort = 4'000'000;

/// Executors with a `cpu` share that core, all others have one for themselves. None: the simulator
/// cannot simulate it.
std::optional<Options> on_shared_cores(const model::Model& model) {
  Options options;
  std::int64_t cores = 0;
  for (const model::Executor& executor : model.executors) {
    const bool slots = std::holds_alternative<model::SlotSupply>(executor.supply);
    if (slots || executor.threads > 1) return std::nullopt;
    if (executor.cpu) cores = std::max(cores, *executor.cpu + 1);
  }
  if (cores == 0) return std::nullopt;
  for (const model::Executor& executor : model.executors) {
    if (!executor.cpu) options.threads[executor.id].cpu = cores++;
  }
  options.cores = cores;
  return options;
}

bool leaves_order_open(const model::Model& model) {
  return std::ranges::any_of(model.executors, [](const model::Executor& executor) {
    return executor.order != model::CallbackOrder::registered;
  });
}

/// Ways to simulate a model.
std::vector<Options> adversaries(const model::Model& model) {
  using simulation::Publication;
  using simulation::ReservationModel;
  std::vector<Options> result;
  for (const Publication publication : {Publication::at_end, Publication::at_start}) {
    for (const ReservationModel reservation :
         {ReservationModel::constant_bandwidth, ReservationModel::latest}) {
      Options options;
      options.publication = publication;
      options.reservation = reservation;
      result.push_back(options);
      options.order = simulation::OrderModel::random;
      if (leaves_order_open(model)) result.push_back(options);
    }
    for (int seed = 0; seed < random_simulations; ++seed) {
      Options options;
      options.publication = publication;
      options.reservation =
          seed % 2 == 0 ? ReservationModel::random : ReservationModel::constant_bandwidth;
      options.releases = simulation::ReleaseModel::random;
      options.order = simulation::OrderModel::random;
      options.execution =
          seed < 2 ? simulation::ExecutionModel::worst_case : simulation::ExecutionModel::random;
      options.seed = static_cast<std::uint64_t>(seed);
      result.push_back(options);
    }
  }
  if (const auto shared = on_shared_cores(model)) {
    result.push_back(*shared);
    result.push_back(*shared);
    result.back().releases = simulation::ReleaseModel::random;
  }
  for (Options& options : result) options.duration = simulated_time;
  return result;
}

void add(Comparison& comparison, const std::string& what, std::optional<Duration> bound,
         Duration observed) {
  if (!bound) return;
  ++comparison.bounds;
  comparison.tightness += bound->count() == 0 ? 1.0
                                              : static_cast<double>(observed.count()) /
                                                    static_cast<double>(bound->count());
  if (observed <= *bound) return;
  comparison.violation +=
      fmt::format("{} took {} ns, its bound is {} ns; ", what, observed.count(), bound->count());
}

struct Longest {
  /// The time which the chain's goal is about, as its bound is.
  Duration of_goal{};
  Duration reaction_time{};
  Duration data_age{};
};

void take(Duration& longest, const simulation::Distribution& observed) {
  if (observed.count() > 0) longest = std::max(longest, observed.max());
}

/// The longest times that were seen, by the indices of the model that is bounded.
struct Observed {
  explicit Observed(const model::Model& model)
      : callbacks(model.callbacks.size()),
        chains(model.chains.size()),
        links(hops::with_hops(model).hops.size()) {}

  /// Simulates the model or a reading of it; `callback_of` and `chain_of` lead back to the model,
  /// to whose callbacks hops come in addition.
  template <typename CallbackOf, typename ChainOf>
  void simulate(const model::Model& reading, CallbackOf callback_of, ChainOf chain_of) {
    for (const Options& options : adversaries(reading)) {
      const auto simulated = simulation::simulate(reading, options);
      ++simulations;
      if (!simulated && simulation::is_overload(simulated.error())) {
        ++overloaded;  // hopelessly, so without bounds
        continue;
      }
      if (!simulated) {
        fault = simulated.error().message;
        return;
      }
      for (std::size_t i = 0; i < reading.callbacks.size(); ++i) {
        const std::size_t callback = callback_of(i);
        take(callback < callbacks.size() ? callbacks[callback] : links[callback - callbacks.size()],
             simulated->callbacks[i].response_time);
      }
      for (std::size_t i = 0; i < simulated->links.size(); ++i) {
        take(links[i], simulated->links[i].response_time);
      }
      for (std::size_t i = 0; i < reading.chains.size(); ++i) {
        Longest& longest = chains[chain_of(i)];
        take(longest.of_goal, simulated->chains[i].of(reading.chains[i].kind));
        take(longest.reaction_time, simulated->chains[i].reaction_time);
        take(longest.data_age, simulated->chains[i].data_age);
      }
    }
  }

  std::vector<Duration> callbacks;
  std::vector<Longest> chains;
  /// The longest response times of hops.
  std::vector<Duration> links;
  std::size_t simulations = 0;
  std::size_t overloaded = 0;
  /// Why the model could not be simulated; empty: it could.
  std::string fault;
};

Comparison compare(const analysis::Bounds& bounds, const Observed& observed) {
  Comparison comparison;
  comparison.simulations = observed.simulations;
  comparison.overloaded = observed.overloaded;
  if (!observed.fault.empty()) {
    comparison.violation = "the simulation failed: " + observed.fault;
    return comparison;
  }
  for (std::size_t i = 0; i < observed.callbacks.size(); ++i) {
    const analysis::CallbackBound& callback = bounds.callbacks[i];
    add(comparison, callback.id, callback.bound, observed.callbacks[i]);
  }
  for (std::size_t i = 0; i < observed.links.size(); ++i) {
    const analysis::LinkBound& hop = bounds.links[i];
    add(comparison, hop.topic + " on " + hop.link, hop.bound, observed.links[i]);
  }
  for (std::size_t i = 0; i < observed.chains.size(); ++i) {
    const analysis::ChainBound& chain = bounds.chains[i];
    const Longest& longest = observed.chains[i];
    add(comparison, chain.id, chain.bound, longest.of_goal);
    add(comparison, "the reaction of " + chain.id, chain.reaction_time, longest.reaction_time);
    add(comparison, "the data's age of " + chain.id, chain.data_age, longest.data_age);
  }
  return comparison;
}

}  // namespace

bool can_run(const model::Model& model) {
  policy::Describer describer(model);
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    if (!describer.describe(model::ExecutorIndex{e})) return false;
  }
  return true;
}

generation::ExecutorKinds all_kinds() {
  generation::ExecutorKinds kinds(std::initializer_list<model::ExecutorKind>{});
  for (const std::string_view name : model::list_names<model::ExecutorKind>()) {
    const auto kind = model::from_string<model::ExecutorKind>(name).value();
    if (!has(kind, model::ExecutorTrait::outside_ros)) kinds.add(kind);
  }
  return kinds;
}

Comparison compare(const model::Model& model, analysis::Method method) {
  return compare(model, model, method);
}

Comparison compare(const model::Model& model, const model::Model& bounded,
                   analysis::Method method) {
  if (!can_run(model)) return {.cannot_run = true, .violation = {}};
  Observed observed(model);
  observed.simulate(
      model, [](std::size_t callback) { return callback; },
      [](std::size_t chain) { return chain; });
  if (model::has_inferred_joins(model)) {
    // Behind a link a declared join keeps its inputs, which are the link's messages.
    const model::SeparatedModel separated =
        model::separate_inferred_joins(hops::with_hops(model).model);
    observed.simulate(
        separated.model,
        [&](std::size_t callback) { return separated.callback_of[callback].value(); },
        [&](std::size_t chain) { return separated.chain_of[chain]; });
  }
  analysis::Options options{.method = method, .horizon = horizon};
  if (method == analysis::Method::exact) options.effort = exploration_effort;
  Comparison comparison = compare(analysis::analyze(bounded, options), observed);
  // With so few steps for each callback, most executors are bounded coarsely; in cycles, which take
  // several rounds, with the larger number.
  for (const std::int64_t steps : {10, 50}) {
    options.effort = steps * static_cast<std::int64_t>(model.callbacks.size());
    const Comparison coarse = compare(analysis::analyze(bounded, options), observed);
    if (!comparison.violation.empty() || coarse.violation.empty()) continue;
    comparison.violation =
        fmt::format("with an effort of {} steps, {}", options.effort, coarse.violation);
  }
  return comparison;
}

std::optional<Found> hunt(const generation::Shape& shape, analysis::Method method,
                          std::uint64_t first, std::size_t models, Tally& tally) {
  for (std::uint64_t seed = first; seed < first + models; ++seed) {
    const model::Model model = generation::random_model(shape, seed);
    const Comparison comparison = compare(model, method);
    ++tally.models;
    tally.bounds += comparison.bounds;
    tally.tightness += comparison.tightness;
    tally.simulations += comparison.simulations;
    tally.overloaded += comparison.overloaded;
    tally.cannot_run += comparison.cannot_run ? 1 : 0;
    if (comparison.violation.empty()) continue;
    Found found{.seed = seed,
                .model = generation::shrink(model,
                                            [&](const model::Model& smaller) {
                                              return !compare(smaller, method).violation.empty();
                                            }),
                .violation = {}};
    found.violation = compare(found.model, method).violation;
    return found;
  }
  return std::nullopt;
}

}  // namespace takt::soundness
