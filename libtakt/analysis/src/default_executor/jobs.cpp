#include "default_executor/jobs.hpp"

#include <algorithm>
#include <numeric>

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::saturating_add;

Jobs::Jobs(const System& system, const Curves& curves, ExecutorIndex executor) {
  const std::vector<CallbackIndex>& callbacks = system.executors[executor.value()].callbacks;
  receivers_.resize(callbacks.size());
  senders_.resize(callbacks.size());
  from_outside_.resize(callbacks.size());
  activations_.resize(callbacks.size());
  for (std::size_t rank = 0; rank < callbacks.size(); ++rank) {
    const Task& task = system[callbacks[rank]];
    from_outside_[rank] = task.is_source() || task.own.has_value();
    activations_[rank].add(curves.own(callbacks[rank]), Duration{0});
    for (const std::size_t e : task.incoming) {
      const TriggerEdge& edge = system.edges[e];
      if (edge.local) {
        const std::size_t sender = system[edge.from].rank;
        receivers_[sender].push_back(rank);
        senders_[rank].push_back(sender);
      } else {
        from_outside_[rank] = true;
        activations_[rank].add(curves.edge(e), Duration{0});
      }
    }
    activations_[rank].finish();
  }
  // Receivers before senders: a callback follows once all of its receivers are in the order.
  std::vector<std::size_t> left(callbacks.size());
  for (std::size_t rank = 0; rank < left.size(); ++rank) {
    left[rank] = receivers_[rank].size();
    if (left[rank] == 0) order_.push_back(rank);
  }
  for (std::size_t n = 0; n < order_.size(); ++n) {
    for (const std::size_t sender : senders_[order_[n]]) {
      if (--left[sender] == 0) order_.push_back(sender);
    }
  }
  if (order_.size() == callbacks.size()) find_groups();
}

void Jobs::find_groups() {
  std::vector<std::size_t> group(receivers_.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto find = [&](std::size_t rank) {
    while (group[rank] != rank) rank = group[rank] = group[group[rank]];
    return rank;
  };
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    for (const std::size_t receiver : receivers_[rank]) group[find(receiver)] = find(rank);
  }
  std::vector<std::size_t> place(group.size(), group.size());
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    std::size_t& at = place[find(rank)];
    if (at == group.size()) {
      at = groups_.size();
      groups_.emplace_back();
    }
    groups_[at].members.push_back(rank);
    if (from_outside_[rank]) groups_[at].roots.push_back(rank);
  }
}

std::vector<Duration> Jobs::from_below(
    const std::function<Duration(std::size_t, const std::vector<Duration>&)>& value) const {
  std::vector<Duration> values(receivers_.size());
  for (const std::size_t rank : order_) values[rank] = value(rank, values);
  return values;
}

Duration Jobs::waiting(std::size_t root, const Weight& weight) const {
  return from_below([&](std::size_t rank, const std::vector<Duration>& below) {
    Duration sum{0};
    for (const std::size_t receiver : receivers_[rank]) sum = saturating_add(sum, below[receiver]);
    return std::max(sum, weight(rank));
  })[root];
}

Duration Jobs::longest_path(std::size_t root, const Weight& weight) const {
  return from_below([&](std::size_t rank, const std::vector<Duration>& below) {
    Duration longest{0};
    for (const std::size_t r : receivers_[rank]) longest = std::max(longest, below[r]);
    return saturating_add(longest, weight(rank));
  })[root];
}

std::vector<std::size_t> Jobs::only_way(std::size_t rank) const {
  std::vector<std::size_t> way{rank};
  while (!senders_[way.back()].empty()) {
    if (senders_[way.back()].size() > 1 || from_outside_[way.back()]) return {};
    way.push_back(senders_[way.back()].front());
  }
  return way;
}

}  // namespace takt::analysis
