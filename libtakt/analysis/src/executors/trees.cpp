#include "executors/trees.hpp"

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

bool is_root(const System& system, CallbackIndex callback) {
  const Task& task = system[callback];
  const policy::Description& description = system.executors[task.executor.value()].description;
  return description.policy.callbacks[task.rank].is_root;
}

std::vector<Tree> unfold(const System& system, ExecutorIndex index) {
  std::vector<Tree> trees;
  const LocalExecutor& executor = system.executors[index.value()];
  if (executor.delayed) return trees;
  // How often each edge is used for one activation of the root.
  std::vector<std::int64_t> uses(system.edges.size(), 0);
  const auto sum = [&](const std::vector<std::size_t>& causes) {
    std::int64_t total = 0;
    for (const std::size_t cause : causes) total = curves::saturating_add(total, uses[cause]);
    return total;
  };
  for (const CallbackIndex root : executor.callbacks) {
    if (!is_root(system, root)) continue;
    // In trigger order each edge comes after those that it needs.
    for (const PropagationStep& step : executor.propagation) {
      if (step.kind != PropagationStep::Kind::edge) continue;
      const TriggerEdge& edge = system.edges[step.index];
      uses[step.index] = 0;
      if (!edge.local || is_root(system, edge.to)) continue;
      if (edge.from == root) {
        uses[step.index] = 1;
      } else if (!is_root(system, edge.from)) {
        uses[step.index] = sum(edge.triggers ? *edge.triggers : system[edge.from].incoming);
      }
    }
    Tree& tree = trees.emplace_back(Tree{.root = root, .members = {{root, 1}}});
    for (const CallbackIndex callback : executor.callbacks) {
      const std::int64_t copies = is_root(system, callback) ? 0 : sum(system[callback].incoming);
      if (copies > 0) tree.members.push_back({callback, copies});
    }
  }
  return trees;
}

}  // namespace takt::analysis
