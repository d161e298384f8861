#include "ordering.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "takt/scheduling/events.hpp"

namespace takt::rclcpp {

using Local = scheduling::LocalIndex;
using scheduling::ChainEdfPolicy;
using scheduling::PolicyDescription;
using scheduling::Rule;

namespace {

std::optional<Local> find(std::span<const Callback> callbacks, const Entity& entity) {
  const auto found = std::ranges::find(callbacks, entity, &Callback::entity);
  if (found == callbacks.end()) return std::nullopt;
  return Local(static_cast<std::size_t>(found - callbacks.begin()));
}

/// The members of a chain that are among the callbacks.
std::vector<Local> members(std::span<const Callback> callbacks, const Chain& chain) {
  std::vector<Local> result;
  for (const Entity& entity : chain.callbacks) {
    if (const auto local = find(callbacks, entity)) result.push_back(*local);
  }
  return result;
}

void describe_callbacks(const Ordering& ordering, std::span<const Callback> callbacks,
                        PolicyDescription& description) {
  for (const Callback& callback : callbacks) {
    PolicyDescription::Callback described{.category = callback.category};
    const auto priority = ordering.priorities.find(callback.entity);
    const auto deadline = ordering.deadlines.find(callback.entity);
    if (priority != ordering.priorities.end()) described.priority = priority->second;
    if (deadline != ordering.deadlines.end()) {
      described.deadline = deadline->second;
    } else if (callback.period) {
      described.deadline = *callback.period;
    }
    // Added to a time, a longer one would be beyond all times.
    described.deadline = std::min(described.deadline, PolicyDescription::longest_deadline);
    described.is_root = callback.category == scheduling::Category::timer ||
                        priority != ordering.priorities.end() ||
                        deadline != ordering.deadlines.end();
    description.callbacks.push_back(described);
  }
}

void set_priorities(const std::vector<std::int64_t>& priorities, PolicyDescription& description) {
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    description.callbacks[i].priority = priorities[i];
  }
}

void describe_rate_monotonic(PolicyDescription& description) {
  std::vector<Duration> periods;
  for (const auto& callback : description.callbacks) periods.push_back(callback.deadline);
  set_priorities(scheduling::rate_monotonic(periods), description);
}

void describe_chain_priorities(const Ordering& ordering, std::span<const Callback> callbacks,
                               PolicyDescription& description) {
  std::vector<std::vector<Local>> chains;
  for (const Chain& chain : ordering.chains) chains.push_back(members(callbacks, chain));
  set_priorities(scheduling::chain_priorities(chains, callbacks.size()), description);
}

void describe_chain_deadlines(const Ordering& ordering, std::span<const Callback> callbacks,
                              PolicyDescription& description) {
  for (const Chain& chain : ordering.chains) {
    std::vector<Local> locals = members(callbacks, chain);
    if (locals.empty()) continue;
    const std::optional<Duration> period = callbacks[locals.front().value()].period;
    description.chains.push_back(
        {.callbacks = std::move(locals),
         .relative_deadline = std::min(chain.deadline.value_or(PolicyDescription::longest_deadline),
                                       PolicyDescription::longest_deadline),
         .period = period});
  }
}

void describe_table(const Ordering& ordering, std::span<const Callback> callbacks,
                    PolicyDescription& description) {
  // Has the time for which there is no callback (yet).
  const Local nobody(callbacks.size());
  description.callbacks.emplace_back();
  description.cycle = ordering.cycle;
  for (const Slot& slot : ordering.slots) {
    const Local local = find(callbacks, slot.callback).value_or(nobody);
    description.slots.push_back({slot.start, slot.end, local});
  }
  if (description.slots.empty()) description.slots.push_back({{}, ordering.cycle, nobody});
}

}  // namespace

PolicyDescription describe(const Ordering& ordering, std::span<const Callback> callbacks) {
  PolicyDescription description{.rule = ordering.rule};
  describe_callbacks(ordering, callbacks, description);
  switch (ordering.source) {
    case Ordering::Priorities::declared:
      if (ordering.rule == Rule::root_priority && ordering.priorities.empty()) {
        describe_rate_monotonic(description);
      }
      break;
    case Ordering::Priorities::rate_monotonic:
      describe_rate_monotonic(description);
      break;
    case Ordering::Priorities::of_chains:
      describe_chain_priorities(ordering, callbacks, description);
      break;
  }
  if (ordering.rule == Rule::chain_deadline || ordering.rule == Rule::frozen_chain_deadline) {
    describe_chain_deadlines(ordering, callbacks, description);
  }
  if (ordering.rule == Rule::table) describe_table(ordering, callbacks, description);
  return description;
}

}  // namespace takt::rclcpp
