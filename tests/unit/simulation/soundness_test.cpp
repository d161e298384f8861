#include <gtest/gtest.h>

#include <cstdlib>

#include "random_models.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/model/json.hpp"
#include "takt/model/names.hpp"
#include "takt/simulation/simulate.hpp"

/// simulated <= bound, the central property: no response time or latency of a simulation is above
/// its bound, on random models with random and adversarial releases, execution times and supplies.
namespace takt::simulation {
namespace {

using enum model::ExecutorKind;

constexpr Duration simulated_time{6'000};
constexpr int random_simulations = 4;

/// Ways to simulate a model: as adversely as we know how, and at random.
std::vector<Options> adversaries() {
  std::vector<Options> result;
  for (const Publication publication : {Publication::at_end, Publication::at_start}) {
    for (const ReservationModel reservation :
         {ReservationModel::constant_bandwidth, ReservationModel::latest}) {
      Options options;
      options.publication = publication;
      options.reservation = reservation;
      result.push_back(options);
    }
    for (int seed = 0; seed < random_simulations; ++seed) {
      Options options;
      options.publication = publication;
      options.reservation =
          seed % 2 == 0 ? ReservationModel::random : ReservationModel::constant_bandwidth;
      options.releases = ReleaseModel::random;
      options.execution = seed < 2 ? ExecutionModel::worst_case : ExecutionModel::random;
      options.seed = static_cast<std::uint64_t>(seed);
      result.push_back(options);
    }
  }
  for (Options& options : result) options.duration = simulated_time;
  return result;
}

struct Comparison {
  std::size_t bounds = 0;
  /// Sum of greatest observed over bound.
  double tightness = 0;
  /// What exceeded its bound.
  std::string violation;
};

void compare(Comparison& comparison, const std::string& what, std::optional<Duration> bound,
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

Comparison compare(const model::Model& model, analysis::Method method) {
  analysis::Options analysis_options;
  analysis_options.method = method;
  analysis_options.horizon = Duration(20'000);
  const analysis::Bounds bounds = analysis::analyze(model, analysis_options);
  std::vector<Duration> callbacks(model.callbacks.size());
  struct Longest {
    Duration latency{};
    Duration reaction_time{};
    Duration data_age{};
  };
  std::vector<Longest> chains(model.chains.size());
  const auto take = [](Duration& longest, const Distribution& observed) {
    if (observed.count() > 0) longest = std::max(longest, observed.max());
  };
  for (const Options& options : adversaries()) {
    const Result<Simulation> simulation = simulate(model, options);
    if (!simulation) continue;  // hopelessly overloaded, so without bounds
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
      take(callbacks[i], simulation->callbacks[i].response_time);
    }
    for (std::size_t i = 0; i < chains.size(); ++i) {
      take(chains[i].latency, simulation->chains[i].latency);
      take(chains[i].reaction_time, simulation->chains[i].reaction_time);
      take(chains[i].data_age, simulation->chains[i].data_age);
    }
  }
  Comparison comparison;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    compare(comparison, model.callbacks[i].id, bounds.callbacks[i].bound, callbacks[i]);
  }
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const analysis::ChainBound& chain = bounds.chains[i];
    compare(comparison, chain.id, chain.bound, chains[i].latency);
    compare(comparison, "the reaction of " + chain.id, chain.reaction_time,
            chains[i].reaction_time);
    compare(comparison, "the data's age of " + chain.id, chain.data_age, chains[i].data_age);
  }
  return comparison;
}

/// How many random models; the environment may ask for a longer hunt.
int models() {
  const char* hunt = std::getenv("TAKT_SOUNDNESS_MODELS");
  return hunt == nullptr ? 300 : std::atoi(hunt);
}

void check(std::span<const model::ExecutorKind> kinds, analysis::Method method, unsigned seed) {
  std::mt19937 random(seed);
  Comparison total;
  for (int i = 0; i < models(); ++i) {
    const model::Model model = random_model(random, kinds);
    const Comparison comparison = compare(model, method);
    total.bounds += comparison.bounds;
    total.tightness += comparison.tightness;
    if (comparison.violation.empty()) continue;
    const model::Model smallest =
        shrink(model, [&](const model::Model& m) { return !compare(m, method).violation.empty(); });
    FAIL() << "model " << i << ": " << compare(smallest, method).violation << "\n"
           << model::to_json(smallest);
  }
  EXPECT_GE(total.bounds, 500U) << "a property of nothing";
  testing::Test::RecordProperty(
      "tightness", std::to_string(total.tightness / static_cast<double>(total.bounds)));
  std::printf("%zu bounds, mean observed / bound %.3f\n", total.bounds,
              total.tightness / static_cast<double>(total.bounds));
}

constexpr std::array default_executors = {single_threaded};

TEST(Soundness, OfTheRoundRobinAnalysis) {
  check(default_executors, analysis::Method::round_robin, 1);
}
TEST(Soundness, OfTheBusyWindowAnalysis) {
  check(default_executors, analysis::Method::busy_window, 2);
}
TEST(Soundness, OfTheCombinedAnalysis) { check(default_executors, analysis::Method::combined, 3); }

/// All executors of the models are of that kind.
class SoundnessOf : public testing::TestWithParam<model::ExecutorKind> {};

TEST_P(SoundnessOf, TheAnalysis) {
  const std::array kinds = {GetParam()};
  check(kinds, analysis::Method::combined, 4);
}

INSTANTIATE_TEST_SUITE_P(Executors, SoundnessOf,
                         testing::Values(events, fixed_priority, chain_priority, edf, graph_aware,
                                         multi_threaded, table_driven),
                         [](const auto& test) {
                           return std::string(model::to_string(test.param));
                         });

TEST(Soundness, OfAllAnalysesTogether) {
  constexpr std::array kinds = {single_threaded, events,      fixed_priority,
                                chain_priority,  edf,         graph_aware,
                                multi_threaded,  table_driven};
  check(kinds, analysis::Method::combined, 5);
}

}  // namespace
}  // namespace takt::simulation
