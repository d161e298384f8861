#include <algorithm>
#include <utility>

#include "draft.hpp"
#include "takt/model/order.hpp"

namespace takt::policy {

namespace {

RootOrder default_order(const Draft& draft) {
  if (draft.any_priority()) return RootOrder::priority;
  const bool any_deadline = std::ranges::any_of(
      draft.description.callbacks,
      [&](CallbackIndex callback) { return draft.model[callback].deadline.has_value(); });
  return any_deadline ? RootOrder::edf : RootOrder::rate_monotonic;
}

/// Whether anything outside the executor activates the callback, even if only sometimes: its own
/// activation, or a message from another executor. A message with a delay within the executor
/// counts as one from outside: the callback that ran last when it arrives need not be its sender.
bool is_activated_from_outside(const Draft& draft, CallbackIndex callback) {
  if (draft.model[callback].activation) return true;
  return std::ranges::any_of(draft.facts.incoming(callback), [&](std::size_t e) {
    const model::Edge& edge = draft.model.edges[e];
    return !draft.is_here(edge.from) || edge.delay > Duration{0};
  });
}

/// Children inherit the urgency of the callback that activates them (component-cps 4.4). With
/// several predecessors it may be anything between the extremes. If several instances wait, the
/// newest runs first.
void inherit(Draft& draft) {
  Description& description = draft.description;
  std::vector<bool> known;
  for (const auto& callback : description.policy.callbacks) known.push_back(callback.is_root);
  // Ranges only widen, so this ends even if there are cycles, which trigger sets may break.
  for (bool changed = true; std::exchange(changed, false);) {
    for (const CallbackIndex callback : description.callbacks) {
      const std::size_t to = draft.local(callback).value();
      for (const std::size_t edge : draft.facts.incoming(callback)) {
        const CallbackIndex sender = draft.model.edges[edge].from;
        if (!draft.is_here(sender)) continue;
        Urgency& inherited = description.urgencies[to];
        inherited.overtakes = true;
        const std::size_t from = draft.local(sender).value();
        if (description.policy.callbacks[to].is_root || !known[from]) continue;
        Urgency widened = description.urgencies[from];
        widened.overtakes = true;
        if (known[to]) {
          widened.least_priority = std::min(widened.least_priority, inherited.least_priority);
          widened.greatest_priority =
              std::max(widened.greatest_priority, inherited.greatest_priority);
          widened.shortest_deadline =
              std::min(widened.shortest_deadline, inherited.shortest_deadline);
          widened.longest_deadline = std::max(widened.longest_deadline, inherited.longest_deadline);
        }
        changed = changed || !known[to] || widened != inherited;
        known[to] = true;
        inherited = widened;
      }
    }
  }
}

}  // namespace

Result<void> describe_graph_aware(Draft& draft) {
  scheduling::PolicyDescription& policy = draft.description.policy;
  for (const CallbackIndex callback : draft.description.callbacks) {
    policy.callbacks[draft.local(callback).value()].is_root =
        is_activated_from_outside(draft, callback);
  }
  switch (draft.options.root_order.value_or(default_order(draft))) {
    case RootOrder::priority:
      policy.rule = scheduling::Rule::root_priority;
      draft.order_by_priority();
      break;
    case RootOrder::rate_monotonic:
      policy.rule = scheduling::Rule::root_priority;
      draft.order_by_rate();
      break;
    case RootOrder::edf:
      policy.rule = scheduling::Rule::root_deadline;
      draft.order_by_inherited_deadline();
      break;
  }
  inherit(draft);
  return {};
}

}  // namespace takt::policy
