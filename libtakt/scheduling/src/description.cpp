#include "takt/scheduling/description.hpp"

#include <optional>

#include "takt/scheduling/events.hpp"
#include "takt/scheduling/graph_aware.hpp"

namespace takt::scheduling {

namespace {

template <typename Value>
std::vector<Value> of_callbacks(const PolicyDescription& description,
                                Value PolicyDescription::Callback::*member) {
  std::vector<Value> values;
  for (const PolicyDescription::Callback& callback : description.callbacks) {
    values.push_back(callback.*member);
  }
  return values;
}

template <typename Value>
std::vector<std::optional<Value>> of_roots(const PolicyDescription& description,
                                           Value PolicyDescription::Callback::*member) {
  std::vector<std::optional<Value>> values;
  for (const PolicyDescription::Callback& callback : description.callbacks) {
    values.push_back(callback.is_root ? std::optional(callback.*member) : std::nullopt);
  }
  return values;
}

std::unique_ptr<Policy> make_chain_policy(const PolicyDescription& description, DeadlineRule rule,
                                          std::size_t capacity) {
  std::vector<ChainEdfPolicy::Chain> chains = description.chains;
  std::vector<bool> is_in_chain(description.callbacks.size());
  for (const ChainEdfPolicy::Chain& chain : chains) {
    for (const CallbackIndex callback : chain.callbacks) is_in_chain[callback.value()] = true;
  }
  for (std::size_t i = 0; i < is_in_chain.size(); ++i) {
    if (is_in_chain[i]) continue;
    chains.push_back({.callbacks = {CallbackIndex(i)},
                      .relative_deadline = description.callbacks[i].deadline,
                      .period = {}});
  }
  return std::make_unique<ChainEdfPolicy>(description.callbacks.size(), chains, rule, capacity);
}

}  // namespace

bool PolicyDescription::is_sharable() const {
  return rule != Rule::root_priority && rule != Rule::root_deadline && rule != Rule::table;
}

std::unique_ptr<Policy> make_policy(const PolicyDescription& description, std::size_t capacity) {
  using Callback = PolicyDescription::Callback;
  switch (description.rule) {
    case Rule::ready_set:
      return std::make_unique<WaitSetPolicy>(of_callbacks(description, &Callback::category),
                                             description.timers);
    case Rule::first_released:
      return std::make_unique<FifoPolicy>(description.callbacks.size(), capacity);
    case Rule::priority:
      return std::make_unique<FixedPriorityPolicy>(of_callbacks(description, &Callback::priority),
                                                   capacity);
    case Rule::deadline:
      return std::make_unique<EdfPolicy>(of_callbacks(description, &Callback::deadline), capacity);
    case Rule::chain_deadline:
      return make_chain_policy(description, DeadlineRule::per_instance, capacity);
    case Rule::frozen_chain_deadline:
      return make_chain_policy(description, DeadlineRule::frozen_at_completion, capacity);
    case Rule::root_priority:
      return std::unique_ptr<Policy>(new GraphAwarePolicy(
          GraphAwarePolicy::fixed_priority(of_roots(description, &Callback::priority), capacity)));
    case Rule::root_deadline:
      return std::unique_ptr<Policy>(new GraphAwarePolicy(
          GraphAwarePolicy::edf(of_roots(description, &Callback::deadline), capacity)));
    case Rule::table:
      break;
  }
  return std::make_unique<TableDrivenPolicy>(description.callbacks.size(), description.slots,
                                             description.cycle);
}

}  // namespace takt::scheduling
