#include "fixed_point/fixed_point.hpp"

#include <algorithm>
#include <utility>

#include "fixed_point/growth.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::unbounded_time;

namespace {

/// A look ahead costs as much as many rounds.
constexpr std::size_t rounds_per_look_ahead = 32;

}  // namespace

FixedPoint::FixedPoint(const System& system, const Options& options)
    : system_(system),
      options_(options),
      curves_(system),
      response_(system.tasks.size(), epsilon),
      witness_(system.tasks.size()),
      round_{.system = system_,
             .curves = curves_,
             .response = response_,
             .witness = witness_,
             .options = options_},
      executors_(system.executors.size()),
      stale_(system.components.size(), true),
      waiting_(system.executors.size(), false),
      overload_(system.executors.size()),
      divergence_(system.tasks.size()),
      undecided_(system.tasks.size(), false) {}

void FixedPoint::changed(ExecutorIndex executor) {
  stale_[system_.executors[executor.value()].component] = true;
}

void FixedPoint::activation_changed(CallbackIndex callback) {
  curves_.renew(callback);
  changed(system_[callback].executor);
}

void FixedPoint::solve() {
  analysed_.clear();
  std::vector<curves::DerivedCurve> before;
  for (std::size_t c = 0; c < system_.components.size(); ++c) {
    if (!stale_[c]) continue;
    stale_[c] = false;
    const Component& component = system_.components[c];
    before.clear();
    for (const std::size_t edge : component.leaving) before.push_back(curves_.edge(edge));
    restart(component);
    solve(component);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const std::size_t edge = component.leaving[i];
      if (curves_.edge(edge) == before[i]) continue;
      stale_[system_.component_of(system_.edges[edge].to)] = true;
    }
  }
}

void FixedPoint::restart(const Component& component) {
  curves_.restart(component);
  std::erase_if(endless_, [&](const std::vector<CallbackIndex>& group) {
    return &system_.components[system_.component_of(group.front())] == &component;
  });
  for (const ExecutorIndex index : component.executors) {
    analysed_.push_back(index);
    overload_[index.value()].reset();
    auto& executor = executors_[index.value()];
    executor = make_analysis(round_, index);
    for (const CallbackIndex callback : system_.executors[index.value()].callbacks) {
      response_[callback.value()] = executor ? epsilon : unbounded_time;
      witness_[callback.value()] = {};
      divergence_[callback.value()].reset();
      undecided_[callback.value()] = false;
    }
  }
}

void FixedPoint::solve(const Component& component) {
  rounds_ = 0;
  for (const ExecutorIndex executor : component.executors) waiting_[executor.value()] = true;
  for (bool any = true; any;) {
    any = false;
    for (const ExecutorIndex executor : component.executors) {
      if (!waiting_[executor.value()]) continue;
      waiting_[executor.value()] = false;
      any = true;
      if (!settle(executor)) continue;
      for (const ExecutorIndex successor : system_.executors[executor.value()].successors) {
        if (system_.executors[successor.value()].component !=
            system_.executors[executor.value()].component) {
          continue;
        }
        waiting_[successor.value()] = true;
      }
    }
  }
}

bool FixedPoint::settle(ExecutorIndex index) {
  const LocalExecutor& executor = system_.executors[index.value()];
  ExecutorAnalysis* analysis = executors_[index.value()].get();
  bool leaving_changed = curves_.propagate(index, response_);
  if (analysis == nullptr) return leaving_changed;
  analysis->begin_round();
  bool grown = false;
  for (const CallbackIndex callback : executor.callbacks) {
    grown = raise(callback, analysis->least_bound(callback)) || grown;
  }
  const Component& component = system_.components[executor.component];
  const std::size_t rounds_between = rounds_per_look_ahead * component.executors.size();
  do {
    // The curves of the executor's busy windows follow from its own bounds as well.
    if (std::exchange(grown, false) && executor.delayed) {
      leaving_changed = curves_.propagate(index, response_) || leaving_changed;
      analysis->begin_round();
    }
    // Bounds are passed on to the curves that follow from them as soon as they are found: without
    // a cycle, curves are final when they are first used.
    for (const PropagationStep& step : executor.propagation) {
      leaving_changed = curves_.follow(step, response_) || leaving_changed;
      if (step.kind != PropagationStep::Kind::activations) continue;
      const CallbackIndex callback{step.index};
      if (response_[callback.value()] == unbounded_time) continue;
      const LocalBound bound = analysis->bound(callback);
      witness_[callback.value()] = bound.witness;
      grown = raise(callback, bound.response) || grown;
    }
    if (grown && ++rounds_ % rounds_between == 0) skip_rounds(component);
  } while (grown);
  return leaving_changed;
}

bool FixedPoint::raise(CallbackIndex callback, Duration bound) {
  // Simplified curves need not be monotone in the bounds they come from. Bounds that are at least
  // as high as what follows from them hold all the same.
  Duration& response = response_[callback.value()];
  const Duration next = bound > options_.horizon ? unbounded_time : bound;
  if (next <= response) return false;
  if (next == unbounded_time) leave_unbounded(callback);
  response = next;
  return true;
}

void FixedPoint::leave_unbounded(CallbackIndex callback) {
  const ExecutorIndex index = system_[callback].executor;
  const LocalExecutor& executor = system_.executors[index.value()];
  if (overload_[index.value()]) return;
  const Utilisation use = utilisation(executor.callbacks, executor.supply, system_, curves_);
  if (use.overloaded && executor.description.threads == 1) {
    overload_[index.value()] = use;
    return;
  }
  divergence_[callback.value()] = executors_[index.value()]->divergence(callback);
  if (divergence_[callback.value()]) return;
  if (std::ranges::any_of(executor.callbacks,
                          [this](CallbackIndex c) { return curves_.activations(c).unbounded(); })) {
    return;
  }
  // The bound may have reached the horizon in so few rounds that no look ahead has been taken.
  const Component& component = system_.components[executor.component];
  const bool decided = component.executors.size() == 1 && !component.coupled &&
                       executors_[index.value()]->decides_divergence();
  if (!decided) skip_rounds(component);
  if (endless(callback) == nullptr) undecided_[callback.value()] = true;
}

void FixedPoint::skip_rounds(const Component& component) {
  const Growth growth = look_ahead(system_, curves_, component, executors_, response_);
  for (const CallbackIndex callback : growth.endless) response_[callback.value()] = unbounded_time;
  if (!growth.endless.empty()) endless_.push_back(growth.endless);
  for (const ExecutorIndex executor : component.executors) {
    waiting_[executor.value()] = true;
    for (const CallbackIndex callback : system_.executors[executor.value()].callbacks) {
      Duration& response = response_[callback.value()];
      if (response == unbounded_time) continue;
      response = growth.least[callback.value()];
      if (response <= options_.horizon) continue;
      response = unbounded_time;
      undecided_[callback.value()] = true;
    }
  }
}

const std::vector<CallbackIndex>* FixedPoint::endless(CallbackIndex callback) const {
  const auto found = std::ranges::find_if(
      endless_, [&](const auto& group) { return std::ranges::count(group, callback) > 0; });
  return found == endless_.end() ? nullptr : &*found;
}

}  // namespace takt::analysis
