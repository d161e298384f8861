// The events executor: first come, first served.

#include "executors/job_queue.hpp"

namespace takt::analysis {

namespace {

class Events final : public JobQueueExecutor {
 public:
  using JobQueueExecutor::JobQueueExecutor;

 private:
  [[nodiscard]] Interference interference(const Member&, const Member&) const override {
    return {.blocks = false, .precedes = true, .limit = until_victim};
  }
  [[nodiscard]] std::string_view name() const override { return "fifo"; }
  [[nodiscard]] Completion from_activation(const Member& victim, const BusyWindow& window,
                                           Duration offset) const override;
};

/// Only instances that wait when the victim is activated go before it. Each of them was activated
/// at most its own bound earlier. If an instance of the executor activated the victim, each of them
/// was also activated after that sender was; otherwise it would have run before the sender.
Completion Events::from_activation(const Member& victim, const BusyWindow& window,
                                   Duration offset) const {
  round_.effort.spend(weight() + victim.task->incoming.size());
  Duration since{0};
  bool within = !victim.task->is_source() && !victim.task->own;
  for (const std::size_t e : victim.task->incoming) {
    const TriggerEdge& edge = round_.system.edges[e];
    within = within && edge.local;
    since = std::max(since, round_.response[edge.from.value()]);
  }
  const auto waiting = [&](const Member& member) {
    std::int64_t most = member.busy_activations->count(offset + epsilon);
    if (response(member) != curves::unbounded_time) {
      most = std::min(most, member.activations->count(response(member)));
    }
    if (!within || since == curves::unbounded_time) return most;
    return std::min(most, member.activations->count(since + epsilon));
  };
  const Cost& cost = victim.task->cost;
  const std::int64_t earlier = std::min(window.earlier(offset), waiting(victim) - 1);
  Duration demand = epsilon + cost(earlier);
  for (const Member& other : members_) {
    if (&other == &victim) continue;
    demand = curves::saturating_add(demand, other.task->cost(waiting(other)));
  }
  const Duration start = executor_.supply.time_for(demand);
  if (start == curves::unbounded_time) return {start, start};
  return {start, completion(start, cost.marginal(earlier + 1))};
}

}  // namespace

std::unique_ptr<ExecutorAnalysis> make_events(const Round& round, ExecutorIndex executor) {
  return std::make_unique<Events>(round, executor);
}

}  // namespace takt::analysis
