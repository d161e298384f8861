#include "takt/synthesis/declared_sets.hpp"

#include <algorithm>
#include <numeric>

namespace takt::synthesis {

using execution::InputLink;

void DeclaredSets::learn(const execution::Objects& objects) {
  for (; known_ < objects.input_links.size(); ++known_) {
    const InputLink& link = objects.input_links[known_];
    if (link.kind == InputLink::Kind::sampled) {
      continue;
    }
    for (const ObservedCallbackIndex member : link.inputs) {
      join_of_.try_emplace(member, joins_.size());
    }
    const auto kind =
        link.kind == InputLink::Kind::and_ ? model::JoinKind::and_ : model::JoinKind::newest;
    joins_.push_back({.members = link.inputs,
                      .held = {kind, link.inputs.size()},
                      .since = std::vector<Duration>(link.inputs.size()),
                      .cost = {}});
  }
}

void DeclaredSets::add(const execution::Objects& objects,
                       const execution::CallbackInstance& instance) {
  learn(objects);
  const auto found = join_of_.find(instance.callback);
  if (found == join_of_.end()) {
    return;
  }
  Join& join = joins_[found->second];
  const auto member = static_cast<std::size_t>(std::ranges::find(join.members, instance.callback) -
                                               join.members.begin());
  join.since[member] = bounded(join.since[member] + instance.execution_time());
  join.held.arrive(member);
  join.on_arrival.note(instance);
  if (join.on_arrival.holds() ? !instance.was_chosen : !join.held.is_complete()) {
    return;
  }
  join.cost.add(std::accumulate(join.since.begin(), join.since.end(), Duration{0},
                                [](Duration sum, Duration more) { return bounded(sum + more); }));
  std::ranges::fill(join.since, Duration{0});
  join.held.use();
}

void DeclaredSets::restart(const std::function<bool(ObservedCallbackIndex)>& is_concerned) {
  for (Join& join : joins_) {
    if (std::ranges::any_of(join.members, is_concerned)) {
      std::ranges::fill(join.since, Duration{0});
      join.cost = {};
    }
  }
}

const execution::CostCurve* DeclaredSets::cost(
    const std::set<ObservedCallbackIndex>& members) const {
  const auto found = std::ranges::find_if(joins_, [&](const Join& join) {
    return std::set(join.members.begin(), join.members.end()) == members;
  });
  return found == joins_.end() || found->cost.values().empty() ? nullptr : &found->cost;
}

}  // namespace takt::synthesis
