#include "takt/synthesis/overlaps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ranges>

namespace takt::synthesis {

void Overlaps::add(execution::NodeIndex node, const execution::CallbackInstance& instance) {
  LastEnds& ends = last_ends_[node];
  for (const auto& [end, run] : std::views::reverse(ends.in_order)) {
    if (end <= instance.start) break;
    const auto& [thread, callback] = run;
    if (thread == instance.thread) continue;
    overlaps_[instance.callback].insert(callback);
    overlaps_[callback].insert(instance.callback);
  }
  const Run run{instance.thread, instance.callback};
  const auto [last, is_new] = ends.of.try_emplace(run, instance.end);
  if (!is_new) ends.in_order.erase({std::exchange(last->second, instance.end), run});
  ends.in_order.insert({instance.end, run});
}

std::vector<std::optional<std::string>> Overlaps::groups(
    const std::string& node, const std::vector<execution::ObservedCallbackIndex>& callbacks) const {
  std::vector<std::optional<std::string>> names;
  std::vector<std::size_t> group_of;
  for (const execution::ObservedCallbackIndex callback : callbacks) {
    const auto found = overlaps_.find(callback);
    const auto beside = [&](std::size_t other) {
      return found != overlaps_.end() && found->second.contains(callbacks[other]);
    };
    if (found != overlaps_.end() && found->second.contains(callback)) {
      group_of.push_back(callbacks.size());  // no group
      names.emplace_back(model::reentrant_group);
      continue;
    }
    std::set<std::size_t> taken;
    for (std::size_t other = 0; other < group_of.size(); ++other) {
      if (beside(other)) {
        taken.insert(group_of[other]);
      }
    }
    std::size_t group = 0;
    while (taken.contains(group)) {
      ++group;
    }
    group_of.push_back(group);
    names.push_back(group == 0 ? std::nullopt
                               : std::optional(fmt::format("{} {}", node, group + 1)));
  }
  return names;
}

}  // namespace takt::synthesis
