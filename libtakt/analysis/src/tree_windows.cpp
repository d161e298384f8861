// Windows of whole trees on the graph-aware executor, after unfolding (component-cps 4.7).

#include <algorithm>
#include <vector>

#include "least_solution.hpp"
#include "offset_search.hpp"
#include "queue_executor.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;
using curves::unbounded_time;

Duration QueueExecutor::work(const Tree& tree) const {
  Duration sum{0};
  for (const auto& [callback, copies] : tree.members) {
    const Cost& cost = members_[round_.system[callback].rank].task->cost;
    sum = saturating_add(sum, saturating_multiply(cost(1), copies));
  }
  return sum;
}

/// All subtasks of a tree have its root's priority and run without preemption. So within a busy
/// window of that level run the tree itself, trees at least as urgent, and one subtask, begun
/// before, of any other. That is the bound of component-cps 4.7, for arbitrary activations and
/// responses beyond a period.
std::optional<QueueExecutor::TreeWindow> QueueExecutor::tree_window(const Tree& tree) const {
  const auto priority = [this](const Tree& t) {
    return round_.system[t.root].urgency.greatest_priority;
  };
  const auto activations = [this](const Tree& t) {
    return members_[round_.system[t.root].rank].activations;
  };
  TreeWindow window{.self = {activations(tree), work(tree)}};
  for (const Tree& other : executor_.trees) {
    if (&other == &tree) continue;
    if (priority(other) >= priority(tree)) {
      window.others.push_back({activations(other), work(other)});
      window.trees.push_back(&other);
      continue;
    }
    for (const auto& [callback, copies] : other.members) {
      const Duration time = members_[round_.system[callback].rank].task->cost(1);
      if (time <= window.blocking) continue;
      window.blocking = time;
      window.blocker = callback;
    }
  }
  std::vector<Load> level = window.others;
  level.push_back(window.self);
  if (std::ranges::any_of(level, [](const Load& l) { return l.activations->unbounded(); }) ||
      overloaded(level, executor_.supply)) {
    return std::nullopt;
  }
  return window;
}

Duration QueueExecutor::least_window(const TreeWindow& window, Duration start,
                                     Duration fixed) const {
  return least_solution(executor_.supply, start, horizon(), [&](Duration x) {
    Duration sum = saturating_add(window.blocking, fixed);
    for (const auto& [activations, each] : window.others) {
      sum = saturating_add(sum, saturating_multiply(each, activations->count(x)));
    }
    return sum;
  });
}

Completion QueueExecutor::complete(const TreeWindow& window, Duration offset,
                                   Duration start) const {
  const std::int64_t own = window.self.activations->count(offset + epsilon);
  const Duration finish = least_window(window, start, saturating_multiply(window.self.each, own));
  return {finish, finish};
}

Duration QueueExecutor::length(const TreeWindow& window) const {
  TreeWindow all = window;
  all.others.push_back(window.self);
  return least_window(all, epsilon, epsilon);
}

Duration QueueExecutor::tree_response(const Tree& tree) const {
  const auto window = tree_window(tree);
  if (!window) return unbounded_time;
  const Duration busy = length(*window);
  if (busy == unbounded_time) return busy;
  return longest_response(
      busy, [&](Duration offset, Duration start) { return complete(*window, offset, start); },
      [&](Duration offset) {
        const Duration step = window->self.activations->next_step(offset);
        return step == unbounded_time ? step : step - epsilon;
      });
}

Duration QueueExecutor::tree_response(std::span<const CallbackIndex> chain) const {
  if (executor_.by_deadline) return unbounded_time;
  const auto has = [](const Tree& tree, CallbackIndex callback) {
    return std::ranges::count(tree.members, callback, &Tree::Member::callback) > 0;
  };
  // Whatever tree an instance belongs to, it is activated after the tree's root and ends with it.
  Duration longest{0};
  for (const Tree& tree : executor_.trees) {
    if (!has(tree, chain.front())) continue;
    // A chain that comes to another root goes on in a tree of that.
    if (!std::ranges::all_of(chain, [&](CallbackIndex c) { return has(tree, c); })) {
      return unbounded_time;
    }
    longest = std::max(longest, tree_response(tree));
  }
  return longest == Duration{0} ? unbounded_time : longest;
}

const Tree* QueueExecutor::tree_of(std::span<const CallbackIndex> chain, Duration response) const {
  if (tree_response(chain) != response) return nullptr;
  const auto tree = std::ranges::find_if(
      executor_.trees, [&](const Tree& t) { return tree_response(t) == response; });
  return &*tree;
}

}  // namespace takt::analysis
