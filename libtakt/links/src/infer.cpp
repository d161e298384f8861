#include "takt/links/infer.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "takt/execution/names.hpp"

namespace takt::links {
namespace {

using execution::NodeIndex;
using execution::Objects;
using execution::PublisherIndex;
using model::JoinKind;
using Members = NodeInputs::Members;
using Topics = std::set<TopicIndex>;

/// Fewer runs than these prove nothing.
constexpr std::uint64_t fewest_runs = 8;

/// A node that uses fewer than one in so many of an input's messages reads it rather than waits for
/// it (a state that is sent often).
constexpr std::uint64_t most_kept = 3;

/// Percent: how sure it is that one callback waits for another after it was seen to do so `times`
/// times. If it never was, both are as likely.
std::int64_t confidence_after(std::uint64_t times) {
  constexpr std::int64_t unproved = 50;
  constexpr std::int64_t most = 99;
  const auto n = static_cast<double>(times);
  return std::clamp(static_cast<std::int64_t>(100.0 * n / (n + 1.0)), unproved, most);
}

/// Infers the links of one node.
class NodeInference {
 public:
  NodeInference(const Evidence& evidence, const Objects& objects, NodeIndex node)
      : evidence_(evidence), objects_(objects), inputs_(evidence.inputs(node)), node_(node) {
    for (const auto& [subscription, activity] : inputs_.subscriptions()) {
      const bool stores_transforms =
          activity.outputs.empty() &&
          execution::is_transform(objects[*objects.topic_of(objects[subscription])]);
      if (evidence.of(subscription).ran && !stores_transforms) subscriptions_.insert(subscription);
    }
    for (const execution::Timer& timer : objects.timers) {
      const auto& activity = evidence.of(timer.callback);
      if (timer.node == node && activity.ran && !activity.topics.empty()) {
        timers_.insert(timer.callback);
      }
    }
  }

  std::vector<Link> run() {
    std::vector<Link> links;
    Members joined;
    for (const Join& join : joins()) {
      links.push_back(link_of(join));
      joined.insert(join.members.begin(), join.members.end());
    }
    for (const ObservedCallbackIndex timer : timers_) {
      Link link = sampled_by(timer, joined);
      if (!link.inputs.empty()) links.push_back(std::move(link));
    }
    return links;
  }

 private:
  struct Join {
    JoinKind kind;
    Members members;
    Topics topics;
    std::uint64_t exceptions = 0;
    /// How often the member was waited for that was so least often.
    std::uint64_t waits = 0;
    bool matches_stamps = false;
  };

  [[nodiscard]] std::uint64_t runs_of(const Members& members) const {
    std::uint64_t runs = 0;
    for (const ObservedCallbackIndex member : members) {
      runs += inputs_.subscriptions().at(member).runs;
    }
    return runs;
  }

  [[nodiscard]] Members senders_on(TopicIndex topic) const {
    Members senders;
    for (const auto& [subscription, activity] : inputs_.subscriptions()) {
      if (activity.outputs.contains(topic)) senders.insert(subscription);
    }
    return senders;
  }

  /// Where a node uses message_filters, the functions that it registers name it.
  [[nodiscard]] bool is_filter(ObservedCallbackIndex subscription) const {
    return objects_[subscription].symbol.find("message_filters") != std::string::npos;
  }

  /// Whether the subscription seems to do nothing but keep its messages for a publication on the
  /// topic, and always had one.
  [[nodiscard]] bool only_keeps(ObservedCallbackIndex subscription, TopicIndex topic,
                                JoinKind kind) const {
    const auto& activity = inputs_.subscriptions().at(subscription);
    return timers_.empty() && activity.outputs.empty() &&
           activity.runs <= most_kept * inputs_.publications(topic) &&
           10 * activity.short_runs >= 9 * activity.runs &&
           inputs_.absences(kind, subscription, topic) == std::uint64_t{0};
  }

  /// The inputs without which nothing is published on the topic. Empty if there is no such set.
  [[nodiscard]] Members members_of(TopicIndex topic, JoinKind kind) const {
    Members members = inputs_.usually_present(kind, topic);
    std::erase_if(members, [this](auto member) { return !subscriptions_.contains(member); });
    for (auto next = members.begin(); next != members.end();) {
      const auto waits = inputs_.waits_for(kind, members, *next, topic);
      const bool is_needed = waits > inputs_.exceptions(kind, members, topic).value_or(waits) ||
                             only_keeps(*next, topic, kind);
      next = is_needed ? std::next(next) : members.erase(next);
      // Without this member, an earlier one may not be needed any more.
      next = is_needed ? next : members.begin();
    }
    return std::ranges::includes(members, senders_on(topic)) ? members : Members();
  }

  [[nodiscard]] std::uint64_t least_waits(const Join& join, TopicIndex topic) const {
    std::uint64_t least = UINT64_MAX;
    for (const ObservedCallbackIndex member : join.members) {
      least = std::min(least, inputs_.waits_for(join.kind, join.members, member, topic));
    }
    return least;
  }

  [[nodiscard]] std::optional<Join> join_on(TopicIndex topic) const {
    for (const JoinKind kind : {JoinKind::newest, JoinKind::and_}) {
      const Members members = members_of(topic, kind);
      const auto exceptions = inputs_.exceptions(kind, members, topic);
      const std::uint64_t runs = runs_of(members);
      if (members.size() < 2 || runs < fewest_runs || !exceptions ||
          *exceptions * NodeInputs::runs_per_exception > runs) {
        continue;
      }
      Join join{kind, members, {topic}, *exceptions};
      join.waits = least_waits(join, topic);
      return join;
    }
    return std::nullopt;
  }

  /// A join of message_filters: a callback that publishes has completed a set.
  [[nodiscard]] std::optional<Join> filter_on(TopicIndex topic) const {
    const Members senders = senders_on(topic);
    if (!std::ranges::all_of(senders, [this](auto sender) { return is_filter(sender); })) {
      return std::nullopt;
    }
    Members members = inputs_.usually_present(JoinKind::and_, topic);
    members.merge(inputs_.usually_present(JoinKind::newest, topic));
    std::erase_if(members, [&](ObservedCallbackIndex member) {
      const auto& outputs = inputs_.subscriptions().at(member).outputs;
      return !subscriptions_.contains(member) || !is_filter(member) ||
             (!outputs.empty() && !outputs.contains(topic));
    });
    if (members.size() < 2 || runs_of(members) < fewest_runs ||
        !std::ranges::includes(members, senders)) {
      return std::nullopt;
    }
    Join join{JoinKind::newest, std::move(members), {topic}};
    join.waits = least_waits(join, topic);
    join.matches_stamps = true;
    return join;
  }

  [[nodiscard]] std::vector<Join> joins() const {
    std::vector<Join> found;
    for (const TopicIndex topic : inputs_.outputs_of(subscriptions_)) {
      auto join = filter_on(topic);
      if (!join) join = join_on(topic);
      if (!join) continue;
      const auto same = std::ranges::find_if(found, [&](const Join& other) {
        return other.kind == join->kind && other.members == join->members;
      });
      if (same == found.end()) {
        found.push_back(std::move(*join));
      } else {
        same->topics.insert(topic);
        same->exceptions = std::max(same->exceptions, join->exceptions);
        same->waits = std::min(same->waits, join->waits);
      }
    }
    std::map<ObservedCallbackIndex, std::size_t> fits;
    for (const Join& join : found) {
      for (const ObservedCallbackIndex member : join.members) ++fits[member];
    }
    for (Join& join : found) {
      std::erase_if(join.members, [&](ObservedCallbackIndex member) { return fits[member] > 1; });
    }
    std::erase_if(found, [](const Join& join) { return join.members.size() < 2; });
    return found;
  }

  [[nodiscard]] Link link_of(const Join& join) const {
    Link link;
    link.kind = Link::Kind::joined;
    link.grounds = Grounds::inferred;
    link.process = objects_[node_].process;
    link.inputs.assign(join.members.begin(), join.members.end());
    std::set<PublisherIndex> publishers;
    for (const ObservedCallbackIndex member : join.members) {
      for (const PublisherIndex publisher : evidence_.of(member).publishers) {
        if (join.topics.contains(objects_[publisher].topic)) publishers.insert(publisher);
      }
    }
    link.outputs.assign(publishers.begin(), publishers.end());
    link.join = join.kind;
    link.matches_stamps = join.matches_stamps;
    link.confidence.assign(link.inputs.size(), confidence_after(join.waits));
    link.runs = runs_of(join.members);
    link.exceptions = join.exceptions;
    return link;
  }

  /// How sure it is that the timer reads what the subscription keeps.
  [[nodiscard]] std::int64_t confidence(ObservedCallbackIndex subscription,
                                        ObservedCallbackIndex timer) const {
    const Beginning& kept = evidence_.of(subscription).beginning;
    const Beginning& read = evidence_.of(timer).beginning;
    const bool waited =
        kept.run && read.publication && *kept.run <= *read.publication && read.silent_runs > 0;
    const std::int64_t alone = confidence_after(waited ? read.silent_runs : 0);
    return std::max<std::int64_t>(alone / static_cast<std::int64_t>(timers_.size()), 1);
  }

  [[nodiscard]] Link sampled_by(ObservedCallbackIndex timer, const Members& joined) const {
    Link link;
    link.kind = Link::Kind::sampled;
    link.grounds = Grounds::inferred;
    link.process = objects_[node_].process;
    link.reader = timer;
    const auto& publishers = evidence_.of(timer).publishers;
    link.outputs.assign(publishers.begin(), publishers.end());
    link.runs = evidence_.of(timer).beginning.silent_runs;
    for (const ObservedCallbackIndex subscription : subscriptions_) {
      const auto& senders = evidence_.of(subscription).senders;
      // Where only the timer's own messages come back, it does not read them.
      const bool is_own = senders.size() == 1 && senders.contains(timer);
      if (is_own || joined.contains(subscription) ||
          !inputs_.subscriptions().at(subscription).outputs.empty()) {
        continue;
      }
      link.inputs.push_back(subscription);
      link.confidence.push_back(confidence(subscription, timer));
    }
    return link;
  }

  const Evidence& evidence_;
  const Objects& objects_;
  const NodeInputs& inputs_;
  NodeIndex node_;
  /// Those that ran after start-up. One that only stores transforms is none of them.
  Members subscriptions_;
  /// The timers that publish.
  Members timers_;
};

}  // namespace

std::set<NodeIndex> nodes_of(const Objects& objects, std::span<const Link> links) {
  std::set<NodeIndex> nodes;
  const auto add = [&](const std::optional<NodeIndex>& node) {
    if (node) nodes.insert(*node);
  };
  for (const Link& link : links) {
    for (const ObservedCallbackIndex input : link.inputs) add(objects.node_of(objects[input]));
    for (const PublisherIndex output : link.outputs) add(objects[output].node);
    if (link.reader) add(objects.node_of(objects[*link.reader]));
  }
  return nodes;
}

std::vector<Link> inferred_links(const Evidence& evidence, const Objects& objects,
                                 const std::set<NodeIndex>& known) {
  std::vector<Link> links;
  for (std::size_t i = 0; i < evidence.inputs().size(); ++i) {
    const NodeIndex node(i);
    if (known.contains(node) || objects.has_all_links(objects[node].process)) continue;
    auto more = NodeInference(evidence, objects, node).run();
    std::ranges::move(more, std::back_inserter(links));
  }
  return links;
}

std::vector<Link> all_links(const Evidence& evidence, const Objects& objects) {
  std::vector<Link> links = declared_links(objects);
  auto more = inferred_links(evidence, objects, nodes_of(objects, links));
  std::ranges::move(more, std::back_inserter(links));
  return links;
}

}  // namespace takt::links
