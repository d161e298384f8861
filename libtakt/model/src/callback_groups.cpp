#include "takt/model/callback_groups.hpp"

#include <map>
#include <optional>
#include <string>

namespace takt::model {

namespace {

/// None: reentrant.
std::optional<std::string> group_name(const Callback& callback) {
  // Names that people give and those of nodes do not meet.
  if (!callback.callback_group) return "node " + callback.node;
  if (*callback.callback_group == "reentrant") return std::nullopt;
  return "group " + *callback.callback_group;
}

}  // namespace

CallbackGroups callback_groups(const Model& model, std::span<const CallbackIndex> callbacks) {
  CallbackGroups groups;
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    const std::optional<std::string> name = group_name(model[callbacks[i]]);
    if (!name) {
      groups.reentrant.push_back(i);
      continue;
    }
    const auto [group, added] = by_name.try_emplace(*name, groups.exclusive.size());
    if (added) groups.exclusive.emplace_back();
    groups.exclusive[group->second].push_back(i);
  }
  return groups;
}

}  // namespace takt::model
