#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "takt/plan/plan.hpp"
#include "takt/policy/describe.hpp"

namespace takt::plan {

namespace {

/// Whether the entity, which has that position among those alike, is found at the address.
bool is_at(const Entity& entity, std::size_t ordinal, const Address& address) {
  if (entity.node != address.node || entity.kind != address.kind) return false;
  if (entity.kind == model::CallbackKind::timer && entity.period != address.period) return false;
  if (address.topics.empty()) return entity.topic.empty() && address.ordinals[0] == ordinal;
  const auto topic = std::ranges::find(address.topics, entity.topic);
  if (topic == address.topics.end()) return false;
  return address.ordinals[static_cast<std::size_t>(topic - address.topics.begin())] == ordinal;
}

}  // namespace

Assignment assign(const ExecutorPlan& planned, std::span<const Entity> entities) {
  Assignment result;
  result.policy = planned.policy;
  std::vector<bool> found(planned.callbacks.size());
  std::map<std::tuple<std::string, model::CallbackKind, std::string, std::optional<Duration>>,
           std::size_t>
      alike;
  for (std::size_t i = 0; i < entities.size(); ++i) {
    const Entity& entity = entities[i];
    const std::size_t ordinal = alike[{entity.node, entity.kind, entity.topic, entity.period}]++;
    const auto callback = std::ranges::find_if(planned.callbacks, [&](const CallbackPlan& c) {
      return is_at(entity, ordinal, c.address);
    });
    if (callback != planned.callbacks.end()) {
      const auto index = static_cast<std::size_t>(callback - planned.callbacks.begin());
      found[index] = true;
      result.callbacks.emplace_back(index);
      continue;
    }
    result.unplanned.push_back(i);
    result.callbacks.emplace_back(result.policy.callbacks.size());
    result.policy.callbacks.push_back({.category = policy::category(entity.kind)});
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) result.missing.push_back(planned.callbacks[i].id);
  }
  return result;
}

std::string describe_missing(const ExecutorPlan& planned, std::span<const std::string> missing) {
  constexpr std::size_t most_named = 4;
  const auto named = missing.first(std::min(missing.size(), most_named));
  const std::size_t more = missing.size() - named.size();
  return fmt::format(
      "executor \"{}\": the plan names callbacks that no node here has: {}{}. Nodes, topics and "
      "periods of timers must be those of the system that the plan was made for",
      planned.id, fmt::join(named, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

Result<const ExecutorPlan*> find_executor(const Plan& plan, std::string_view id) {
  if (id.empty() && plan.executors.size() == 1) return &plan.executors.front();
  const auto found = std::ranges::find(plan.executors, id, &ExecutorPlan::id);
  if (found != plan.executors.end()) return &*found;
  std::string ids;
  for (const ExecutorPlan& executor : plan.executors) {
    ids += (ids.empty() ? "\"" : ", \"") + executor.id + "\"";
  }
  if (id.empty()) return error("the plan has several executors; name one of {}", ids);
  return error("the plan has no executor \"{}\"; one of {}", id, ids.empty() ? "none" : ids);
}

}  // namespace takt::plan
