#include "takt/merging/merge.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "takt/generation/random.hpp"
#include "takt/generation/random_model.hpp"
#include "takt/model/json.hpp"
#include "takt/model/names.hpp"

/// tests/python/test_merging.py holds what `takt model --merge` says of runs; this is about all
/// features that a model can have.
namespace takt::merging {
namespace {

using model::Model;

/// The document of a merged model, with everything in its place.
std::string merged(std::vector<Model> runs) {
  const auto result = merge(std::move(runs));
  EXPECT_TRUE(result) << result.error().message;
  return result ? model::to_json(result->model) : "";
}

/// A model as merge() makes them: without a name and a provenance, and no path is two chains.
Model any_model(std::uint64_t seed) {
  const auto names = model::list_names<model::ExecutorKind>();
  const auto kind = *model::from_string<model::ExecutorKind>(names[seed % names.size()]);
  Model model = generation::random_model(generation::any_model(kind), seed);
  model.name.clear();
  model.provenance = "{}";
  std::set<std::pair<model::GoalKind, std::vector<model::CallbackIndex>>> paths;
  std::erase_if(model.chains, [&](const model::Chain& chain) {
    return !paths.emplace(chain.kind, chain.callbacks).second;
  });
  return model;
}

/// A run that shows less of the same system.
Model smaller_run(Model model, generation::Random& random) {
  const auto reduce = [&](Duration& time) { time = Duration{random.between(0, time.count())}; };
  for (model::Callback& callback : model.callbacks) {
    if (random.chance(50)) {
      for (Duration& cost : callback.execution_time) cost = (cost + epsilon) / 2;
    }
    if (random.chance(30)) callback.activation.reset();
    if (callback.suspension && random.chance(30)) callback.suspension.reset();
  }
  for (model::Executor& executor : model.executors) reduce(executor.release_overhead);
  for (model::Edge& edge : model.edges) {
    if (!edge.travel) reduce(edge.delay);
    edge.message_size = random.between(0, edge.message_size);
  }
  for (model::Chain& chain : model.chains) {
    if (random.chance(30)) chain.goal.reset();
  }
  if (random.chance(30)) model.chains.clear();
  return model;
}

TEST(Merging, OfOneRunManyTimesChangesNothing) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Model model = any_model(seed);
    for (const int times : {1, 3}) {
      ASSERT_EQ(merged(std::vector(static_cast<std::size_t>(times), model)), model::to_json(model))
          << seed;
    }
  }
}

TEST(Merging, IsThatOfTheRunThatShowsMore) {
  generation::Random random(7);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Model model = any_model(seed);
    ASSERT_EQ(merged({model, smaller_run(model, random), smaller_run(model, random)}),
              model::to_json(model))
        << seed;
  }
}

/// Of those without a callback only the name is known.
TEST(Merging, KnowsExecutorsByTheirCallbacks) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Model model = any_model(seed);
    Model renamed = model;
    for (const model::Callback& callback : model.callbacks) {
      renamed.executors[callback.executor.value()].id = "another " + model[callback.executor].id;
    }
    ASSERT_EQ(merged({model, renamed}), model::to_json(model)) << seed;
    const auto result = merge({model, renamed});
    ASSERT_TRUE(result);
    for (std::size_t e = 0; e < model.executors.size(); ++e) {
      ASSERT_EQ(result->executor_names[1].at(renamed.executors[e].id), model.executors[e].id);
    }
  }
}

}  // namespace
}  // namespace takt::merging
