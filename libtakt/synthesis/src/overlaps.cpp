#include "takt/synthesis/overlaps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>

#include "takt/model/model.hpp"

namespace takt::synthesis {

void Overlaps::add(execution::NodeIndex node, const execution::CallbackInstance& instance) {
  LastEnds& ends = last_ends_[node];
  ran_[instance.callback] += instance.end - instance.start;
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
  const auto ran = [&](execution::ObservedCallbackIndex callback) {
    const auto known = ran_.find(callback);
    return known == ran_.end() ? Duration{0} : known->second;
  };
  const auto overlap = [&](execution::ObservedCallbackIndex one,
                           execution::ObservedCallbackIndex other) {
    const auto found = overlaps_.find(one);
    return found != overlaps_.end() && found->second.contains(other);
  };
  std::vector<execution::ObservedCallbackIndex> exclusive;
  std::ranges::copy_if(callbacks, std::back_inserter(exclusive),
                       [&](const auto callback) { return !overlap(callback, callback); });
  std::ranges::stable_sort(exclusive, std::greater(), ran);
  struct Group {
    std::vector<execution::ObservedCallbackIndex> members;
    Duration ran{};
    std::optional<std::size_t> number;
  };
  std::vector<Group> groups;
  std::map<execution::ObservedCallbackIndex, std::size_t> group_of;
  for (const execution::ObservedCallbackIndex callback : exclusive) {
    const auto admits = [&](const Group& group) {
      return std::ranges::none_of(group.members,
                                  [&](const auto member) { return overlap(callback, member); });
    };
    auto candidates = groups | std::views::filter(admits);
    const auto longest = std::ranges::max_element(candidates, {}, &Group::ran);
    Group& group = longest == candidates.end() ? groups.emplace_back() : *longest;
    group.members.push_back(callback);
    group.ran += ran(callback);
    group_of[callback] = static_cast<std::size_t>(&group - groups.data());
  }
  std::size_t numbers = 0;
  std::vector<std::optional<std::string>> names;
  for (const execution::ObservedCallbackIndex callback : callbacks) {
    const auto known = group_of.find(callback);
    if (known == group_of.end()) {
      names.emplace_back(model::reentrant_group);
      continue;
    }
    std::optional<std::size_t>& number = groups[known->second].number;
    if (!number) number = numbers++;
    names.push_back(*number == 0 ? std::nullopt
                                 : std::optional(fmt::format("{} {}", node, *number + 1)));
  }
  return names;
}

}  // namespace takt::synthesis
