#include "full_queues.hpp"

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

bool may_be_full(const System& system, const FixedPoint& solution, CallbackIndex callback) {
  const Task& task = system[callback];
  const Duration response = solution.response(callback);
  if (!task.queue_depth || task.samples || response == curves::unbounded_time) return false;
  return solution.curves().activations(callback).count(response) > *task.queue_depth;
}

std::vector<std::string> full_queues(const model::Model& model, const System& system,
                                     const FixedPoint& solution) {
  std::vector<std::string> found;
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    // A timer's expiries do not pass through a queue.
    if (system.tasks[c].is_timer || !may_be_full(system, solution, CallbackIndex{c})) continue;
    found.push_back(model.callbacks[c].id);
  }
  return found;
}

}  // namespace takt::analysis
