#include <algorithm>
#include <cstddef>
#include <utility>

#include "system/system.hpp"

namespace takt::analysis {

namespace {

/// The strongly connected components of the executors along their `successors`, each before those
/// that it leads to (Tarjan 1972, with a stack of its own in place of recursion). Linear.
class ComponentSearch {
 public:
  explicit ComponentSearch(const std::vector<LocalExecutor>& executors)
      : executors_(executors), nodes_(executors.size()) {}

  std::vector<Component> find() {
    for (std::size_t start = 0; start < nodes_.size(); ++start) {
      if (nodes_[start].number == 0) visit(start);
    }
    std::ranges::reverse(components_);
    return std::move(components_);
  }

 private:
  struct Node {
    std::size_t number = 0;  // in the order of visits, from 1
    std::size_t lowest = 0;  // the lowest number known to be reached from it
    std::size_t next = 0;    // successor to be visited next
    bool open = false;       // not yet in a component
  };

  void enter(std::size_t executor) {
    nodes_[executor] = {.number = ++visited_, .lowest = visited_, .next = 0, .open = true};
    path_.push_back(executor);
    open_.push_back(executor);
  }

  void visit(std::size_t start) {
    enter(start);
    while (!path_.empty()) {
      Node& node = nodes_[path_.back()];
      const auto& successors = executors_[path_.back()].successors;
      if (node.next < successors.size()) {
        const std::size_t successor = successors[node.next++].value();
        if (nodes_[successor].number == 0) {
          enter(successor);
        } else if (nodes_[successor].open) {
          node.lowest = std::min(node.lowest, nodes_[successor].number);
        }
        continue;
      }
      const std::size_t done = path_.back();
      path_.pop_back();
      if (node.lowest == node.number) close(done);
      if (!path_.empty()) {
        Node& before = nodes_[path_.back()];
        before.lowest = std::min(before.lowest, node.lowest);
      }
    }
  }

  /// All executors that were visited since `first` and are still open are a component with it.
  void close(std::size_t first) {
    // It is near the end: all that was open before stays so.
    auto begin = open_.end();
    while (*--begin != first) {
    }
    Component& component = components_.emplace_back();
    for (auto member = begin; member != open_.end(); ++member) {
      nodes_[*member].open = false;
      component.executors.emplace_back(*member);
    }
    open_.erase(begin, open_.end());
  }

  const std::vector<LocalExecutor>& executors_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> path_;
  std::vector<std::size_t> open_;
  std::size_t visited_ = 0;
  std::vector<Component> components_;
};

}  // namespace

void System::add_components() {
  components = ComponentSearch(executors).find();
  for (std::size_t c = 0; c < components.size(); ++c) {
    for (const ExecutorIndex executor : components[c].executors) {
      executors[executor.value()].component = c;
    }
  }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const std::size_t from = component_of(edges[e].from);
    if (from != component_of(edges[e].to)) components[from].leaving.push_back(e);
    if (edges[e].triggers) components[from].coupled = true;
  }
}

}  // namespace takt::analysis
