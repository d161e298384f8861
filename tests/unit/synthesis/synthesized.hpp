#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "../execution/scenario.hpp"
#include "takt/model/json.hpp"
#include "takt/synthesis/synthesizer.hpp"

namespace takt::synthesis {

inline Result<model::Model> synthesise(test::Scenario& scenario, const Options& options = {},
                                       const Observing& observing = {}) {
  Synthesizer synthesizer(observing);
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(synthesizer);
  const auto pass = execution::run(scenario, interpreter, {});
  return synthesizer.model(scenario, interpreter.database(), pass, options);
}

/// The model of a scenario that has one; it must also survive its own document.
inline model::Model model_of(test::Scenario& scenario, const Options& options = {},
                             const Observing& observing = {}) {
  const auto model = synthesise(scenario, options, observing);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  if (!model) {
    return {};
  }
  const auto parsed = model::parse(model::to_json(*model), "synthesised");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return *model;
}

inline std::vector<std::string> ids_of(const model::Model& model,
                                       const std::vector<model::CallbackIndex>& callbacks) {
  std::vector<std::string> ids;
  for (const model::CallbackIndex callback : callbacks) {
    ids.push_back(model[callback].id);
  }
  return ids;
}

/// The edges of a model as "from -> to", in their order.
inline std::vector<std::string> edges_of(const model::Model& model) {
  std::vector<std::string> list;
  for (const model::Edge& edge : model.edges) {
    list.push_back(model[edge.from].id + " -> " + model[edge.to].id);
  }
  return list;
}

/// The callbacks of each chain of a model, by their ids.
inline std::vector<std::vector<std::string>> chains_of(const model::Model& model) {
  std::vector<std::vector<std::string>> chains;
  for (const model::Chain& chain : model.chains) chains.push_back(ids_of(model, chain.callbacks));
  return chains;
}

}  // namespace takt::synthesis
