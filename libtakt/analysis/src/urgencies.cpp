#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "system.hpp"
#include "takt/model/callback_groups.hpp"
#include "takt/model/order.hpp"
#include "takt/model/urgency.hpp"
#include "takt/scheduling/events.hpp"

/// How executors order their callbacks, by the same rules as the policies that run them.
namespace takt::analysis {

namespace {

using Local = scheduling::CallbackIndex;
using model::ExecutorKind;

/// Chains by rank, each reduced to its callbacks on one executor.
std::vector<std::vector<Local>> local_chains(const model::Model& model, const System& system,
                                             ExecutorIndex executor) {
  std::vector<const model::Chain*> order;
  order.reserve(model.chains.size());
  for (const model::Chain& chain : model.chains) order.push_back(&chain);
  std::ranges::stable_sort(order, {}, [](const model::Chain* chain) {
    return chain->rank.value_or(std::numeric_limits<std::int64_t>::max());
  });
  std::vector<std::vector<Local>> chains;
  for (const model::Chain* chain : order) {
    auto& local = chains.emplace_back();
    for (const CallbackIndex callback : chain->callbacks) {
      if (system[callback].executor == executor) local.emplace_back(system[callback].rank);
    }
  }
  return chains;
}

}  // namespace

void System::add_urgencies(const model::Model& model) {
  const auto by_urgency = [](const LocalExecutor& executor) {
    return executor.kind == ExecutorKind::fixed_priority ||
           executor.kind == ExecutorKind::chain_priority || executor.kind == ExecutorKind::edf ||
           executor.kind == ExecutorKind::graph_aware;
  };
  if (std::ranges::none_of(executors, by_urgency)) return;
  const model::Urgencies urgencies(model);
  for (std::size_t e = 0; e < executors.size(); ++e) {
    LocalExecutor& executor = executors[e];
    if (!by_urgency(executor)) continue;
    const auto& callbacks = executor.callbacks;
    const bool any_priority = std::ranges::any_of(
        callbacks, [&](CallbackIndex c) { return urgencies.priorities[c.value()].has_value(); });
    const bool any_deadline = std::ranges::any_of(
        callbacks, [&](CallbackIndex c) { return model[c].deadline.has_value(); });
    executor.by_deadline =
        executor.kind == ExecutorKind::edf ||
        (executor.kind == ExecutorKind::graph_aware && !any_priority && any_deadline);
    std::vector<std::int64_t> priorities;
    if (executor.kind == ExecutorKind::chain_priority) {
      priorities = scheduling::chain_priorities(local_chains(model, *this, ExecutorIndex{e}),
                                                callbacks.size());
    } else if (any_priority) {
      for (const CallbackIndex c : callbacks) {
        priorities.push_back(
            urgencies.priorities[c.value()].value_or(std::numeric_limits<std::int64_t>::min() + 1));
      }
    } else {
      std::vector<Duration> periods;
      periods.reserve(callbacks.size());
      for (const CallbackIndex c : callbacks) periods.push_back(urgencies.periods[c.value()]);
      priorities = scheduling::rate_monotonic(periods);
    }
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
      const Duration deadline = urgencies.deadlines[callbacks[i].value()];
      tasks[callbacks[i].value()].urgency = {.least_priority = priorities[i],
                                             .greatest_priority = priorities[i],
                                             .shortest_deadline = deadline,
                                             .longest_deadline = deadline,
                                             .overtakes = false};
    }
    if (executor.kind == ExecutorKind::graph_aware) {
      inherit_urgencies(ExecutorIndex{e});
      add_trees(ExecutorIndex{e});
    }
    if (executor.kind == ExecutorKind::edf) add_deadline_chains(model, ExecutorIndex{e});
  }
}

/// Activated from outside its executor, if only sometimes.
bool System::is_root(CallbackIndex callback) const {
  const Task& task = (*this)[callback];
  return task.given.has_value() || std::ranges::any_of(task.incoming, [&](std::size_t e) {
           return (*this)[edges[e].from].executor != task.executor;
         });
}

/// Roots, activated from outside the executor, keep their own; all others have what triggers them
/// has (component-cps 4.4), and of several waiting instances the newest runs first.
void System::inherit_urgencies(ExecutorIndex executor) {
  std::vector<bool> inherited(tasks.size(), false);
  // Edges are in trigger order, so senders have theirs before they pass it on.
  for (const TriggerEdge& edge : edges) {
    if ((*this)[edge.to].executor != executor || (*this)[edge.from].executor != executor) continue;
    Task& to = tasks[edge.to.value()];
    const Urgency& from = (*this)[edge.from].urgency;
    to.urgency.overtakes = true;
    if (is_root(edge.to)) continue;
    if (!inherited[edge.to.value()]) {
      inherited[edge.to.value()] = true;
      to.urgency = from;
      to.urgency.overtakes = true;
      continue;
    }
    auto& urgency = to.urgency;
    urgency.least_priority = std::min(urgency.least_priority, from.least_priority);
    urgency.greatest_priority = std::max(urgency.greatest_priority, from.greatest_priority);
    urgency.shortest_deadline = std::min(urgency.shortest_deadline, from.shortest_deadline);
    urgency.longest_deadline = std::max(urgency.longest_deadline, from.longest_deadline);
  }
}

/// The longest stretches of the model's chains on the executor, and a chain of its own for each
/// other callback. If two of them share more than their first callback, the executor orders
/// instances by inherited deadlines alone, and there are no such chains.
void System::add_deadline_chains(const model::Model& model, ExecutorIndex index) {
  LocalExecutor& executor = executors[index.value()];
  std::vector<std::vector<CallbackIndex>> stretches;
  for (const model::Chain& chain : model.chains) {
    bool continues = false;
    for (const CallbackIndex callback : chain.callbacks) {
      const bool here = (*this)[callback].executor == index;
      if (here && !continues) stretches.emplace_back();
      if (here) stretches.back().push_back(callback);
      continues = here;
    }
  }
  for (const CallbackIndex callback : executor.callbacks) stretches.push_back({callback});
  // Longer ones first, so that what they contain is left out.
  std::ranges::stable_sort(stretches, std::ranges::greater{}, &std::vector<CallbackIndex>::size);
  std::vector<std::vector<CallbackIndex>> chains;
  for (const auto& stretch : stretches) {
    const bool contained = std::ranges::any_of(
        chains, [&](const auto& chain) { return !std::ranges::search(chain, stretch).empty(); });
    if (!contained) chains.push_back(stretch);
  }
  std::map<CallbackIndex, std::size_t> uses;
  for (const auto& chain : chains) {
    for (const CallbackIndex callback : chain) ++uses[callback];
  }
  for (const auto& chain : chains) {
    for (const CallbackIndex callback : chain) {
      const bool heads_all = std::ranges::all_of(chains, [&](const auto& other) {
        return std::ranges::find(other, callback) == other.end() || other.front() == callback;
      });
      if (uses[callback] > 1 && !heads_all) return;
    }
  }
  for (const auto& chain : chains) {
    for (std::size_t n = 1; n < chain.size(); ++n) {
      const Task& task = (*this)[chain[n]];
      const bool by_chain = !task.given && task.incoming.size() == 1 && !task.join &&
                            edges[task.incoming[0]].from == chain[n - 1] &&
                            edges[task.incoming[0]].local && !edges[task.incoming[0]].triggers;
      if (!by_chain) executor.activated_outside_chain = chain[n];
    }
  }
  executor.deadline_chains = std::move(chains);
}

void System::add_groups(const model::Model& model) {
  std::size_t next = 0;
  for (const LocalExecutor& executor : executors) {
    if (executor.threads == 1) continue;
    const model::CallbackGroups groups = model::callback_groups(model, executor.callbacks);
    for (const std::vector<std::size_t>& members : groups.exclusive) {
      for (const std::size_t member : members) {
        tasks[executor.callbacks[member].value()].group = next;
      }
      ++next;
    }
  }
}

}  // namespace takt::analysis
