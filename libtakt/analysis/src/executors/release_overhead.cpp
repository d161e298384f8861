#include "executors/release_overhead.hpp"

#include "takt/curves/least_solution.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;
using curves::unbounded_time;

ReleaseOverhead::ReleaseOverhead(const Round& round, ExecutorIndex index)
    : round_(round), executor_(round.system.executors[index.value()]) {
  const System& system = round.system;
  for (const CallbackIndex released : executor_.callbacks) {
    if (system[released].own) releases_.push_back(&round.curves.own(released));
    for (const std::size_t e : system[released].incoming) {
      if (!system.edges[e].local) releases_.push_back(&round.curves.edge(e));
    }
  }
}

/// The time that releases take while the thread is busy for `cost`, with `own` more releases that
/// the thread causes itself.
Duration ReleaseOverhead::while_busy(Duration cost, std::int64_t own) const {
  const auto released_within = [&](Duration x) {
    std::size_t looked_at = 1;
    std::int64_t count = own;
    for (const curves::DerivedCurve* curve : releases_) {
      looked_at += curve->weight();
      count = saturating_add(count, curve->count(x));
    }
    round_.effort.spend(looked_at);
    return saturating_multiply(executor_.release_overhead, count);
  };
  const Duration end =
      curves::least_solution(executor_.supply, epsilon, round_.options.horizon,
                             [&](Duration x) { return saturating_add(cost, released_within(x)); });
  return end == unbounded_time ? end : released_within(end);
}

Duration ReleaseOverhead::of_instance(CallbackIndex callback) const {
  const Task& task = round_.system[callback];
  return while_busy(task.cost(1), task.local_sends);
}

void ReleaseOverhead::add_to(curves::DerivedCurve& sum) const {
  for (const curves::DerivedCurve* curve : releases_) sum.add(*curve, Duration{0});
}

Duration ReleaseOverhead::before_decision() const { return while_busy(Duration{0}, 0); }

}  // namespace takt::analysis
