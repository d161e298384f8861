#include "executors/trees.hpp"

#include <functional>

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

namespace {

/// The callbacks, without roots, to which those edges lead for which `begins` is true. Each of
/// these edges is used once.
std::vector<Tree::Member> unfold_from(const System& system, const LocalExecutor& executor,
                                      const std::function<bool(std::size_t)>& begins) {
  // How often each edge is used.
  std::vector<std::int64_t> uses(system.edges.size(), 0);
  const auto sum = [&](const std::vector<std::size_t>& causes) {
    std::int64_t total = 0;
    for (const std::size_t cause : causes) total = curves::saturating_add(total, uses[cause]);
    return total;
  };
  // In trigger order each edge comes after those that it needs.
  for (const PropagationStep& step : executor.propagation) {
    if (step.kind != PropagationStep::Kind::edge) continue;
    const TriggerEdge& edge = system.edges[step.index];
    if (!edge.local || is_root(system, edge.to)) continue;
    if (begins(step.index)) {
      uses[step.index] = 1;
    } else if (!is_root(system, edge.from)) {
      uses[step.index] = sum(edge.triggers ? *edge.triggers : system[edge.from].incoming);
    }
  }
  std::vector<Tree::Member> members;
  for (const CallbackIndex callback : executor.callbacks) {
    const std::int64_t copies = is_root(system, callback) ? 0 : sum(system[callback].incoming);
    if (copies > 0) members.push_back({callback, copies});
  }
  return members;
}

}  // namespace

bool is_root(const System& system, CallbackIndex callback) {
  const Task& task = system[callback];
  const policy::Description& description = system.executors[task.executor.value()].description;
  return description.policy.callbacks[task.rank].is_root;
}

std::vector<Tree> unfold(const System& system, ExecutorIndex index) {
  std::vector<Tree> trees;
  const LocalExecutor& executor = system.executors[index.value()];
  if (executor.delayed) return trees;
  for (const CallbackIndex root : executor.callbacks) {
    if (!is_root(system, root)) continue;
    Tree& tree = trees.emplace_back(Tree{.root = root, .members = {{root, 1}}});
    const auto below =
        unfold_from(system, executor, [&](std::size_t e) { return system.edges[e].from == root; });
    tree.members.insert(tree.members.end(), below.begin(), below.end());
  }
  return trees;
}

std::vector<Tree::Member> unfold_edge(const System& system, ExecutorIndex executor,
                                      std::size_t edge) {
  return unfold_from(system, system.executors[executor.value()],
                     [&](std::size_t e) { return e == edge; });
}

}  // namespace takt::analysis
