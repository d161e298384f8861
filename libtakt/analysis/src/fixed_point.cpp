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
      by_(system.tasks.size()) {
  const Round round{
      .system = system_, .curves = curves_, .response = response_, .options = options_};
  for (std::size_t e = 0; e < system.executors.size(); ++e) {
    executors_.push_back(make_analysis(round, ExecutorIndex{e}));
    if (executors_.back()) continue;
    for (const CallbackIndex callback : system.executors[e].callbacks) {
      response_[callback.value()] = unbounded_time;
    }
  }
}

void FixedPoint::solve() {
  std::vector<bool> waiting(system_.executors.size(), true);
  while (std::ranges::count(waiting, true) > 0) {
    for (const ExecutorIndex executor : system_.order) {
      if (!waiting[executor.value()]) continue;
      waiting[executor.value()] = false;
      if (!settle(executor)) continue;
      for (const ExecutorIndex successor : system_.executors[executor.value()].successors) {
        waiting[successor.value()] = true;
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
