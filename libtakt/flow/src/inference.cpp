#include "takt/flow/inference.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "takt/execution/names.hpp"

namespace takt::flow {
namespace {

using execution::NodeIndex;
using execution::ObservedCallbackIndex;
using execution::PublisherIndex;
using Callbacks = std::vector<ObservedCallbackIndex>;

/// Fewer runs than these prove nothing.
constexpr std::size_t fewest_runs = 8;
/// One run in so many may not fit: the first after a loss, or one that failed.
constexpr std::size_t runs_per_exception = 20;
/// Joins with more members are not looked for.
constexpr std::size_t most_members = 16;

/// The callbacks of a node that ran, and what they sent.
struct Node {
  Callbacks timers;
  Callbacks subscriptions;
  /// The runs that sent something by each publisher, in order of their starts.
  std::map<PublisherIndex, std::vector<InstanceId>> firings;
  std::map<PublisherIndex, std::set<ObservedCallbackIndex>> senders;
};

std::map<NodeIndex, Node> observe(const execution::Objects& objects, const History& history,
                                  const std::set<NodeIndex>& known) {
  std::map<NodeIndex, Node> nodes;
  for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
    const ObservedCallbackIndex index(i);
    const execution::Callback& callback = objects[index];
    const auto node = objects.node_of(callback);
    const auto topic = objects.topic_of(callback);
    if (!node || known.contains(*node) || history.runs_of(index).empty() ||
        (topic && execution::is_infrastructure(objects[*topic]))) {
      continue;
    }
    if (callback.timer) {
      nodes[*node].timers.push_back(index);
    } else if (callback.subscription) {
      nodes[*node].subscriptions.push_back(index);
    }
  }
  for (std::size_t i = 0; i < objects.publishers.size(); ++i) {
    const PublisherIndex index(i);
    const auto& node = objects[index].node;
    if (!node || !nodes.contains(*node) ||
        execution::is_infrastructure(objects[objects[index].topic])) {
      continue;
    }
    std::vector<InstanceId> firings;
    for (const PublicationId message : history.messages_of(index)) {
      const InstanceId run = history.store().find(message)->run;
      if (const Run* const sender = history.store().find(run)) {
        nodes[*node].senders[index].insert(sender->callback);
        firings.push_back(run);
      }
    }
    std::ranges::sort(firings);
    const auto repeated = std::ranges::unique(firings);
    firings.erase(repeated.begin(), repeated.end());
    nodes[*node].firings[index] = std::move(firings);
  }
  return nodes;
}

/// How well runs fit a join whose members publish when a set is complete.
struct Agreement {
  std::size_t runs = 0;
  std::size_t exceptions = 0;
  /// Runs of callbacks that publish, which did not because the set was not complete.
  std::size_t waited = 0;

  [[nodiscard]] bool holds() const {
    return runs >= fewest_runs && exceptions * runs_per_exception <= runs;
  }
};

Agreement compare(const History& history, const Callbacks& members,
                  const std::set<ObservedCallbackIndex>& senders,
                  const std::vector<InstanceId>& firings) {
  std::vector<std::pair<InstanceId, std::size_t>> runs;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (const InstanceId run : history.runs_of(members[i])) {
      runs.emplace_back(run, i);
    }
  }
  std::ranges::sort(runs);
  Agreement agreement{runs.size(), 0, 0};
  const std::uint32_t all = (std::uint32_t{1} << members.size()) - 1;
  std::uint32_t arrived = 0;
  auto firing = firings.begin();
  for (const auto& [run, member] : runs) {
    arrived |= std::uint32_t{1} << member;
    firing = std::lower_bound(firing, firings.end(), run);
    const bool publishes = firing != firings.end() && *firing == run;
    agreement.exceptions += publishes != (arrived == all) ? 1u : 0u;
    agreement.waited += !publishes && senders.contains(members[member]) ? 1u : 0u;
    arrived = publishes ? 0 : arrived;
  }
  return agreement;
}

/// Whether `other` runs at most so many times as often as `sender` that its messages are likely to
/// be used for what `sender` publishes.
bool is_as_frequent(const History& history, ObservedCallbackIndex other,
                    ObservedCallbackIndex sender) {
  constexpr std::size_t most_often = 3;
  return history.runs_of(other).size() <= most_often * history.runs_of(sender).size();
}

/// The members of the join that publishes by a publisher; empty if there is none.
Callbacks find_join(const History& history, const Node& node, const Callbacks& silent,
                    const std::set<ObservedCallbackIndex>& senders,
                    const std::vector<InstanceId>& firings) {
  Callbacks members(senders.begin(), senders.end());
  const bool all_subscribe = std::ranges::all_of(members, [&](ObservedCallbackIndex sender) {
    return std::ranges::find(node.subscriptions, sender) != node.subscriptions.end();
  });
  if (!all_subscribe || members.empty() || members.size() > most_members) {
    return {};
  }
  if (members.size() > 1 && compare(history, members, senders, firings).holds()) {
    return members;
  }
  Callbacks joined = members;
  for (const ObservedCallbackIndex other : silent) {
    Callbacks pair = members;
    pair.push_back(other);
    const Agreement agreement = compare(history, pair, senders, firings);
    const bool waits = agreement.waited * runs_per_exception > agreement.runs;
    const bool frequent = is_as_frequent(history, other, members.front());
    if (agreement.holds() && (waits || frequent) && joined.size() < most_members) {
      joined.push_back(other);
    }
  }
  const bool found =
      joined.size() > members.size() && compare(history, joined, senders, firings).holds();
  return found ? joined : Callbacks();
}

/// The joins of a node by their publishers. A silent subscription that fits several of a node's
/// joins belongs to none of them: it only has the same rate.
std::map<PublisherIndex, Callbacks> find_joins(const History& history, const Node& node,
                                               const Callbacks& silent) {
  std::map<PublisherIndex, Callbacks> joins;
  std::map<ObservedCallbackIndex, std::set<std::set<ObservedCallbackIndex>>> fits;
  for (const auto& [publisher, senders] : node.senders) {
    Callbacks join = find_join(history, node, silent, senders, node.firings.at(publisher));
    for (const ObservedCallbackIndex member : join) {
      fits[member].insert(senders);
    }
    if (!join.empty()) {
      joins.emplace(publisher, std::move(join));
    }
  }
  for (auto& [publisher, join] : joins) {
    std::erase_if(join, [&](ObservedCallbackIndex member) { return fits[member].size() > 1; });
  }
  std::erase_if(joins, [](const auto& entry) { return entry.second.size() < 2; });
  return joins;
}

void add(std::vector<Group>& groups, const execution::Objects& objects, LinkKind kind,
         const Callbacks& inputs, PublisherIndex output) {
  const auto same = std::ranges::find_if(
      groups, [&](const Group& group) { return group.kind == kind && group.inputs == inputs; });
  if (same != groups.end()) {
    same->outputs.push_back(output);
  } else {
    groups.push_back(
        {kind, LinkOrigin::inferred, objects[output].process, inputs, {output}, false});
  }
}

}  // namespace

std::vector<Group> infer_groups(const execution::Objects& objects, const History& history,
                                const std::set<NodeIndex>& known) {
  std::vector<Group> groups;
  for (const auto& [index, node] : observe(objects, history, known)) {
    std::set<ObservedCallbackIndex> used;
    for (const auto& [publisher, senders] : node.senders) {
      used.insert(senders.begin(), senders.end());
    }
    Callbacks silent;
    std::ranges::copy_if(node.subscriptions, std::back_inserter(silent),
                         [&](ObservedCallbackIndex callback) { return !used.contains(callback); });
    std::set<ObservedCallbackIndex> joined;
    for (const auto& [publisher, join] : find_joins(history, node, silent)) {
      add(groups, objects, LinkKind::partial_sync, join, publisher);
      joined.insert(join.begin(), join.end());
    }
    std::erase_if(silent,
                  [&](ObservedCallbackIndex callback) { return joined.contains(callback); });
    for (const auto& [publisher, senders] : node.senders) {
      const bool by_timer = std::ranges::any_of(
          node.timers, [&](ObservedCallbackIndex timer) { return senders.contains(timer); });
      if (by_timer && !silent.empty()) {
        add(groups, objects, LinkKind::periodic_async, silent, publisher);
      }
    }
  }
  return groups;
}

bool doubt_groups(std::vector<Group>& groups, const History& history) {
  bool found = false;
  for (Group& group : groups) {
    std::set<ObservedCallbackIndex> timers;
    for (const PublisherIndex output : group.outputs) {
      for (const PublicationId message : history.messages_of(output)) {
        timers.insert(history.store().find(message)->callback);
      }
    }
    if (group.origin == LinkOrigin::inferred && group.kind == LinkKind::periodic_async &&
        timers.size() > 1) {
      group.origin = LinkOrigin::ambiguous;
      found = true;
    }
  }
  return found;
}

}  // namespace takt::flow
