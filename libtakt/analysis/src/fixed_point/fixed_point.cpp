#include "fixed_point/fixed_point.hpp"

#include <algorithm>
#include <utility>

#include "executors/linear.hpp"
#include "fixed_point/growth.hpp"
#include "system/shared_core.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::unbounded_time;

namespace {

/// A look ahead costs as much as many rounds.
constexpr std::size_t rounds_per_look_ahead = 32;
/// The first rounds gain most of what can be gained.
constexpr int rounds_of_narrowing = 4;
/// The most terms of a curve after the effort has been spent.
constexpr std::size_t few_terms = 64;

/// A callback may use one part in so many of the effort.
constexpr std::int64_t fewest_parts = 200;
/// However little effort there is.
constexpr std::int64_t least_effort_of_callback = 1000;

bool narrows(Method method) { return method == Method::tight || method == Method::exact; }

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
             .options = options_,
             .effort = effort_},
      executors_(system.executors.size()),
      explorations_(system.executors.size()),
      stale_(system.components.size(), true),
      effort_spent_(system.components.size(), false),
      waiting_(system.executors.size(), false),
      utilisation_(system.executors.size()),
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
  effort_.restart();
  std::vector<curves::DerivedCurve> before;
  for (std::size_t c = 0; c < system_.components.size(); ++c) {
    if (!stale_[c]) continue;
    stale_[c] = false;
    const Component& component = system_.components[c];
    before.clear();
    for (const std::size_t edge : component.leaving) before.push_back(curves_.edge(edge));
    solve_within_effort(c);
    if (narrows(options_.method) && !effort_spent_[c]) narrow(component);
    if (options_.method == Method::exact) explore(component);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const std::size_t edge = component.leaving[i];
      if (curves_.edge(edge) == before[i]) continue;
      stale_[system_.component_of(system_.edges[edge].to)] = true;
    }
    for (const ExecutorIndex executor : component.executors) {
      for (const ExecutorIndex other : system_.executors[executor.value()].disturbed) {
        const std::size_t concerned = system_.executors[other.value()].component;
        if (concerned != c) stale_[concerned] = true;
      }
    }
  }
}

/// Where few callbacks take long, nearly all is needed that there is, and bounds are high anyway.
std::int64_t FixedPoint::effort_for(std::size_t callbacks) const {
  const std::int64_t of_each = std::max(options_.effort / fewest_parts, least_effort_of_callback);
  return std::min(part_of_effort(callbacks),
                  curves::saturating_multiply(of_each, static_cast<std::int64_t>(callbacks)));
}

std::int64_t FixedPoint::part_of_effort(std::size_t callbacks) const {
  if (system_.tasks.empty()) return options_.effort;
  const Int128 part = Int128{options_.effort} * static_cast<std::int64_t>(callbacks);
  return static_cast<std::int64_t>(part / static_cast<std::int64_t>(system_.tasks.size()));
}

void FixedPoint::solve_within_effort(std::size_t index) {
  const Component& component = system_.components[index];
  std::size_t callbacks = 0;
  for (const ExecutorIndex executor : component.executors) {
    callbacks += system_.executors[executor.value()].callbacks.size();
  }
  effort_spent_[index] = false;
  (void)curves_.take_work();  // of the components before
  curves_.limit_terms(component, curves::DerivedCurve::most_terms);
  for (Make* make : {&make_analysis, &make_linear}) {
    effort_.allow(effort_spent_[index] ? part_of_effort(callbacks) : effort_for(callbacks));
    if (effort_spent_[index]) curves_.limit_terms(component, few_terms);
    try {
      restart(component, make);
      solve(component);
      return;
    } catch (const Effort::Exhausted&) {
      effort_spent_[index] = true;
    }
  }
  const auto none = [](const Round&, ExecutorIndex) -> std::unique_ptr<ExecutorAnalysis> {
    return nullptr;
  };
  allow_any_effort();
  restart(component, none);
  solve(component);
}

void FixedPoint::narrow(const Component& component) {
  std::size_t callbacks = 0;
  for (const ExecutorIndex index : component.executors) {
    callbacks += system_.executors[index.value()].callbacks.size();
  }
  effort_.allow(effort_for(callbacks));
  try {
    bool lowered = true;
    for (int round = 0; lowered && round < rounds_of_narrowing; ++round) {
      lowered = false;
      for (const ExecutorIndex index : component.executors) lowered = narrow(index) || lowered;
    }
  } catch (const Effort::Exhausted&) {
    // The bounds that were lowered so far hold.
  }
  for (const ExecutorIndex index : component.executors) curves_.propagate(index, response_);
}

bool FixedPoint::propagate(ExecutorIndex index) {
  const bool changed = curves_.propagate(index, response_);
  utilisation_[index.value()].reset();
  effort_.spend(curves_.take_work());
  return changed;
}

bool FixedPoint::narrow(ExecutorIndex index) {
  ExecutorAnalysis* analysis = executor(index);
  // Narrower windows count what has begun before, which may be another instance where others go
  // before the thread.
  if (analysis == nullptr || system_.executors[index.value()].shared_core) return false;
  propagate(index);
  analysis->begin_round();
  bool lowered = false;
  for (const CallbackIndex callback : system_.executors[index.value()].callbacks) {
    const LocalBound bound = analysis->narrowed(callback);
    if (bound.response >= response_[callback.value()]) continue;
    response_[callback.value()] = bound.response;
    witness_[callback.value()] = bound.witness;
    lowered = true;
  }
  return lowered;
}

void FixedPoint::explore(const Component& component) {
  for (const ExecutorIndex index : component.executors) {
    const auto& callbacks = system_.executors[index.value()].callbacks;
    auto& exploration = explorations_[index.value()];
    exploration.reset();
    const bool is_link = system_.executors[index.value()].longest_piece > Duration{0};
    // The bound of a single callback is exact as it is, and an overloaded executor has no bounds.
    if (callbacks.size() < 2 || executor(index) == nullptr || overload_[index.value()] || is_link) {
      continue;
    }
    exploration = analysis::explore(system_, index, curves_, response_, options_.horizon,
                                    part_of_effort(callbacks.size()), effort_);
    for (std::size_t c = 0; c < exploration->callbacks.size(); ++c) {
      const std::size_t callback = callbacks[c].value();
      if (exploration->callbacks[c].response >= response_[callback]) continue;
      response_[callback] = exploration->callbacks[c].response;
      witness_[callback] = exploration->callbacks[c].witness;
    }
    curves_.propagate(index, response_);
  }
}

LocalBound FixedPoint::bound(std::span<const CallbackIndex> stretch) {
  const ExecutorIndex index = system_[stretch.front()].executor;
  ExecutorAnalysis* analysis = executor(index);
  if (analysis == nullptr) return {};
  LocalBound bound;
  effort_.allow(effort_for(stretch.size()));
  try {
    bound = analysis->bound(stretch);
    if (narrows(options_.method) && !system_.executors[index.value()].shared_core) {
      bound.take_lower(analysis->narrowed(stretch));
    }
  } catch (const Effort::Exhausted&) {
    bound = analysis->sum_of_callbacks(stretch);
  }
  bound.take_lower(explored_bound(stretch));
  return bound;
}

LocalBound FixedPoint::explored_bound(std::span<const CallbackIndex> stretch) const {
  const Exploration* explored = exploration(system_[stretch.front()].executor);
  const LocalBound* bound = explored == nullptr ? nullptr : explored->bound(stretch);
  return bound == nullptr ? LocalBound{} : *bound;
}

void FixedPoint::restart(const Component& component, Make* make) {
  curves_.restart(component);
  std::erase_if(endless_, [&](const std::vector<CallbackIndex>& group) {
    return &system_.components[system_.component_of(group.front())] == &component;
  });
  for (const ExecutorIndex index : component.executors) {
    analysed_.push_back(index);
    overload_[index.value()].reset();
    if (const auto& core = system_.executors[index.value()].shared_core) {
      core->bind(system_, curves_, response_, effort_);
    }
    auto& executor = executors_[index.value()];
    executor = make(round_, index);
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
      const Settled settled = settle(executor);
      if (settled.takes_other_time) {
        for (const ExecutorIndex disturbed : system_.executors[executor.value()].disturbed) {
          waiting_[disturbed.value()] = true;
        }
      }
      if (!settled.leaving_changed) continue;
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

FixedPoint::Settled FixedPoint::settle(ExecutorIndex index) {
  const LocalExecutor& executor = system_.executors[index.value()];
  const std::optional<Disturbance> before = disturbance(executor);
  const bool leaving_changed = settle_bounds(index);
  return {.leaving_changed = leaving_changed,
          .takes_other_time = before && disturbance(executor) != before};
}

std::optional<FixedPoint::Disturbance> FixedPoint::disturbance(
    const LocalExecutor& executor) const {
  if (executor.disturbed.empty()) return std::nullopt;
  Disturbance disturbance;
  for (const CallbackIndex callback : executor.callbacks) {
    disturbance.responses.push_back(response_[callback.value()]);
    disturbance.curves.push_back(curves_.activations(callback));
    disturbance.curves.push_back(curves_.busy_activations(callback));
  }
  return disturbance;
}

bool FixedPoint::settle_bounds(ExecutorIndex index) {
  const LocalExecutor& executor = system_.executors[index.value()];
  ExecutorAnalysis* analysis = executors_[index.value()].get();
  bool leaving_changed = propagate(index);
  if (analysis == nullptr) return leaving_changed;
  if (executor.shared_core) executor.shared_core->renew();
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
      leaving_changed = propagate(index) || leaving_changed;
      analysis->begin_round();
    }
    // Bounds are passed on to the curves that follow from them as soon as they are found: without
    // a cycle, curves are final when they are first used.
    for (const PropagationStep& step : executor.propagation) {
      leaving_changed = curves_.follow(step, response_) || leaving_changed;
      effort_.spend(1 + curves_.take_work());
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
  // as high as the bounds that follow from them hold all the same.
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
  if (effort_spent_[executor.component]) {
    // Only overload is looked for, and only once.
    const bool known = std::ranges::any_of(
        executor.callbacks, [this](CallbackIndex c) { return undecided_[c.value()]; });
    if (known) {
      undecided_[callback.value()] = true;
      return;
    }
  }
  effort_.spend(executor.callbacks.size());
  auto& use = utilisation_[index.value()];
  if (!use) use = utilisation(executor.callbacks, executor.supply, system_, curves_);
  if (use->overloaded && executor.description.threads == 1) {
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
  // Now lines above the demand take its place: they prove no lower bounds.
  if (effort_spent_[system_.executors[component.executors.front().value()].component]) return;
  const Growth growth = look_ahead(round_, component, executors_);
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
