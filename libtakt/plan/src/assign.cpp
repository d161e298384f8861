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

/// What entities have in common that only their order tells apart.
using Alike = std::tuple<std::string, model::CallbackKind, std::string, std::optional<Duration>>;

/// The positions, among those alike in their node, of the callbacks that the plan names here.
std::map<Alike, std::vector<std::size_t>> named_positions(const ExecutorPlan& planned) {
  std::map<Alike, std::vector<std::size_t>> named;
  for (const CallbackPlan& callback : planned.callbacks) {
    const Address& at = callback.address;
    if (at.topics.empty()) named[{at.node, at.kind, "", at.period}].push_back(at.ordinals[0]);
    for (std::size_t i = 0; i < at.topics.size(); ++i) {
      named[{at.node, at.kind, at.topics[i], at.period}].push_back(at.ordinals[i]);
    }
  }
  for (auto& [alike, positions] : named) std::ranges::sort(positions);
  return named;
}

Alike alike(const Entity& entity) {
  return {entity.node, entity.kind, entity.topic, entity.period};
}

/// The position of each entity among those alike in its node. An executor that has a part of the
/// node, a callback group say, does not see the others: as long as it has no more of them than the
/// plan names here, they are these.
std::vector<std::size_t> positions_of(const ExecutorPlan& planned,
                                      std::span<const Entity> entities) {
  const auto named = named_positions(planned);
  std::map<Alike, std::size_t> there;
  for (const Entity& entity : entities) ++there[alike(entity)];
  std::map<Alike, std::size_t> seen;
  std::vector<std::size_t> positions;
  for (const Entity& entity : entities) {
    const std::size_t position = seen[alike(entity)]++;
    const auto known = named.find(alike(entity));
    const bool is_all = known != named.end() && there[alike(entity)] <= known->second.size();
    positions.push_back(is_all ? known->second[position] : position);
  }
  return positions;
}

}  // namespace

Assignment assign(const ExecutorPlan& planned, std::span<const Entity> entities) {
  Assignment result;
  result.policy = planned.policy;
  std::vector<bool> found(planned.callbacks.size());
  const std::vector<std::size_t> positions = positions_of(planned, entities);
  for (std::size_t i = 0; i < entities.size(); ++i) {
    const Entity& entity = entities[i];
    const auto callback = std::ranges::find_if(planned.callbacks, [&](const CallbackPlan& c) {
      return is_at(entity, positions[i], c.address);
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
