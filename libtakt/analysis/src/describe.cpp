#include "describe.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "chains/chains.hpp"
#include "full_queues.hpp"
#include "queueing_joins.hpp"
#include "reasons.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

namespace {

CallbackBound callback_bound(const model::Model& model, CallbackIndex callback,
                             const System& system, const FixedPoint& solution) {
  CallbackBound result{.id = model[callback].id, .bound = {}, .by = {}, .reason = {}};
  if (solution.response(callback) == curves::unbounded_time) {
    result.reason = why_unbounded(model, system, solution, callback);
  } else {
    result.bound = solution.response(callback);
    result.by = solution.witness(callback).by;
  }
  return result;
}

void describe_explorations(const model::Model& model, const System& system,
                           const FixedPoint& solution, Bounds& bounds) {
  bounds.unexplored.clear();
  bounds.depends_on_phases = false;
  for (std::size_t e = 0; e < system.executors.size(); ++e) {
    const Exploration* exploration = solution.exploration(ExecutorIndex{e});
    if (exploration == nullptr) continue;
    bounds.depends_on_phases = bounds.depends_on_phases || exploration->depends_on_phases;
    if (exploration->reason.empty()) continue;
    bounds.unexplored.push_back({model.executors[e].id, exploration->reason});
  }
  for (const ChainBound& chain : bounds.chains) {
    bounds.depends_on_phases =
        bounds.depends_on_phases || std::ranges::any_of(chain.segments, &Segment::by_phases);
  }
}

}  // namespace

Bounds blank_bounds(const model::Model& model, const Options& options) {
  Bounds bounds;
  bounds.analysis = to_string(options.method);
  bounds.model = model.name;
  bounds.horizon = options.horizon;
  bounds.callbacks.resize(model.callbacks.size());
  bounds.chains.resize(model.chains.size());
  return bounds;
}

/// The chain's bound is that of the time which its goal is about.
ChainBound of_its_goal(ChainBound chain, model::GoalKind kind) {
  chain.kind = kind;
  if (kind == model::GoalKind::reaction) {
    chain.bound = chain.reaction_time;
    chain.reason = chain.reaction_time_reason;
  } else if (kind == model::GoalKind::age) {
    chain.bound = chain.data_age;
    chain.reason = chain.data_age_reason;
  }
  return chain;
}

void solve(const model::Model& model, const System& system, FixedPoint& solution, Bounds& bounds) {
  const auto begin = std::chrono::steady_clock::now();
  solution.solve();
  std::vector<bool> analysed(system.executors.size(), false);
  for (const ExecutorIndex executor : solution.analysed()) {
    analysed[executor.value()] = true;
    for (const CallbackIndex callback : system.executors[executor.value()].callbacks) {
      bounds.callbacks[callback.value()] = callback_bound(model, callback, system, solution);
    }
  }
  for (std::size_t i = 0; i < model.chains.size(); ++i) {
    const bool passes = std::ranges::any_of(model.chains[i].callbacks, [&](CallbackIndex callback) {
      return analysed[system[callback].executor.value()];
    });
    if (!passes) continue;
    bounds.chains[i] =
        of_its_goal(chain_bound(model, model.chains[i], system, solution), model.chains[i].kind);
  }
  bounds.steps = solution.effort();
  bounds.coarse.clear();
  for (std::size_t e = 0; e < system.executors.size(); ++e) {
    const auto& callbacks = system.executors[e].callbacks;
    if (callbacks.empty() || !solution.effort_spent(callbacks.front())) continue;
    bounds.coarse.push_back(model.executors[e].id);
  }
  describe_explorations(model, system, solution, bounds);
  bounds.queueing_joins = queueing_joins(model, system, solution);
  bounds.full_queues = full_queues(model, system, solution);
  bounds.converged = std::ranges::all_of(
      bounds.callbacks, [](const CallbackBound& callback) { return callback.bound.has_value(); });
  bounds.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace takt::analysis
