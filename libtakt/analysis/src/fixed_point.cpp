#include "fixed_point.hpp"

#include <algorithm>

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::unbounded_time;

FixedPoint::FixedPoint(const System& system, const Options& options)
    : system_(system),
      options_(options),
      curves_(system),
      response_(system.tasks.size(), epsilon),
      by_(system.tasks.size()),
      round_{.system = system_, .curves = curves_, .response = response_, .options = options_},
      executors_(system.executors.size()),
      stale_(system.components.size(), true),
      waiting_(system.executors.size(), false) {}

void FixedPoint::changed(ExecutorIndex executor) {
  stale_[system_.executors[executor.value()].component] = true;
}

void FixedPoint::activation_changed(CallbackIndex callback) {
  curves_.renew(callback);
  changed(system_[callback].executor);
}

void FixedPoint::solve() {
  analysed_.clear();
  std::vector<DerivedCurve> before;
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
  for (const ExecutorIndex index : component.executors) {
    analysed_.push_back(index);
    auto& executor = executors_[index.value()];
    executor = make_analysis(round_, index);
    for (const CallbackIndex callback : system_.executors[index.value()].callbacks) {
      response_[callback.value()] = executor ? epsilon : unbounded_time;
      by_[callback.value()] = {};
    }
  }
}

void FixedPoint::solve(const Component& component) {
  for (const ExecutorIndex executor : component.executors) waiting_[executor.value()] = true;
  for (bool any = true; any;) {
    any = false;
    for (const ExecutorIndex executor : component.executors) {
      if (!waiting_[executor.value()]) continue;
      waiting_[executor.value()] = false;
      if (!settle(executor)) continue;
      for (const ExecutorIndex successor : system_.executors[executor.value()].successors) {
        if (system_.executors[successor.value()].component !=
            system_.executors[executor.value()].component) {
          continue;
        }
        waiting_[successor.value()] = true;
        any = true;
      }
    }
  }
}

bool FixedPoint::settle(ExecutorIndex index) {
  ExecutorAnalysis* executor = executors_[index.value()].get();
  bool leaving_changed = curves_.propagate(index, response_);
  if (executor == nullptr) return leaving_changed;
  executor->begin_round();
  for (;;) {
    bool changed = false;
    for (const CallbackIndex callback : system_.executors[index.value()].callbacks) {
      Duration& response = response_[callback.value()];
      if (response == unbounded_time) continue;
      const LocalBound bound = executor->bound(callback);
      by_[callback.value()] = bound.by;
      // Simplified curves need not be monotone in the bounds they come from; what is not below its
      // own consequences is a bound all the same.
      const Duration next = bound.response > options_.horizon ? unbounded_time : bound.response;
      if (next <= response) continue;
      response = next;
      changed = true;
    }
    if (!changed) return leaving_changed;
    leaving_changed = curves_.propagate(index, response_) || leaving_changed;
  }
}

}  // namespace takt::analysis
