#include "executors/release_overhead.hpp"

#include <algorithm>

#include "takt/curves/least_solution.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;
using curves::unbounded_time;

namespace {

/// The time that releases take while the thread is busy for `cost`, with `own` more releases that
/// the thread causes itself.
Duration while_busy(const Round& round, ExecutorIndex index, Duration cost, std::int64_t own) {
  const System& system = round.system;
  const LocalExecutor& executor = system.executors[index.value()];
  std::vector<const curves::DerivedCurve*> releases;
  for (const CallbackIndex released : executor.callbacks) {
    if (system[released].own) releases.push_back(&round.curves.own(released));
    for (const std::size_t e : system[released].incoming) {
      if (!system.edges[e].local) releases.push_back(&round.curves.edge(e));
    }
  }
  const auto released_within = [&](Duration x) {
    std::size_t looked_at = 1;
    std::int64_t count = own;
    for (const curves::DerivedCurve* curve : releases) {
      looked_at += curve->weight();
      count = saturating_add(count, curve->count(x));
    }
    round.effort.spend(looked_at);
    return saturating_multiply(executor.release_overhead, count);
  };
  const Duration end =
      curves::least_solution(executor.supply, epsilon, round.options.horizon,
                             [&](Duration x) { return saturating_add(cost, released_within(x)); });
  return end == unbounded_time ? end : released_within(end);
}

}  // namespace

Duration release_overhead(const Round& round, ExecutorIndex index, CallbackIndex callback) {
  const System& system = round.system;
  const std::int64_t own = std::ranges::count_if(
      system.edges, [&](const TriggerEdge& edge) { return edge.local && edge.from == callback; });
  return while_busy(round, index, system[callback].cost(1), own);
}

Duration releases_before_decision(const Round& round, ExecutorIndex index) {
  return while_busy(round, index, Duration{0}, 0);
}

}  // namespace takt::analysis
