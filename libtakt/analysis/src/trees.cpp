#include <algorithm>

#include "system.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

/// Unfolds the executor's graph (component-cps 4.3). Trees end before roots, which queue by their
/// own priority whatever activates them. At a join every input counts as an activation, which is
/// safe. O(roots · edges).
void System::add_trees(ExecutorIndex index) {
  LocalExecutor& executor = executors[index.value()];
  executor.trees.clear();
  if (executor.delayed) return;
  const auto here = [&](CallbackIndex callback) { return (*this)[callback].executor == index; };
  for (const CallbackIndex root : executor.callbacks) {
    if (!is_root(root)) continue;
    // How often each edge is used for one activation of the root; in trigger order, each edge comes
    // after those that it needs.
    std::vector<std::int64_t> uses(edges.size(), 0);
    const auto sum = [&](const std::vector<std::size_t>& causes) {
      std::int64_t total = 0;
      for (const std::size_t cause : causes) total = curves::saturating_add(total, uses[cause]);
      return total;
    };
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const TriggerEdge& edge = edges[e];
      if (!edge.local || !here(edge.from) || is_root(edge.to)) continue;
      if (edge.from == root) {
        uses[e] = 1;
      } else if (!is_root(edge.from)) {
        uses[e] = sum(edge.triggers ? *edge.triggers : (*this)[edge.from].incoming);
      }
    }
    Tree& tree = executor.trees.emplace_back();
    tree.root = root;
    tree.members.push_back({root, 1});
    for (const CallbackIndex callback : executor.callbacks) {
      const std::int64_t copies = is_root(callback) ? 0 : sum((*this)[callback].incoming);
      if (copies > 0) tree.members.push_back({callback, copies});
    }
  }
}

}  // namespace takt::analysis
