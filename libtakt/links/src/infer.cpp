#include "takt/links/infer.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "takt/base/grow.hpp"
#include "takt/execution/names.hpp"
#include "takt/links/hand_overs.hpp"

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

/// Whether a library keeps the messages of the topic, whatever its node does with them.
bool is_kept_by_library(std::string_view topic) {
  return execution::is_transform(topic) || execution::is_of_action(topic);
}

/// The publishers of a node by which callbacks that receive transforms publish something else: what
/// waited in the node for a transform.
std::set<PublisherIndex> sent_on_transforms(const Evidence& evidence, const Objects& objects,
                                            NodeIndex node) {
  std::set<PublisherIndex> found;
  for (const execution::Subscription& subscription : objects.subscriptions) {
    if (!execution::is_transform(objects[subscription.topic])) continue;
    for (const PublisherIndex publisher : evidence.of(subscription.callback).publishers) {
      const auto& [owner, topic] = std::pair(objects[publisher].node, objects[publisher].topic);
      if (owner == node && !execution::is_transform(objects[topic])) found.insert(publisher);
    }
  }
  return found;
}

/// Infers the links of one node.
class NodeInference {
 public:
  NodeInference(const Evidence& evidence, const Objects& objects, NodeIndex node)
      : evidence_(evidence), objects_(objects), inputs_(evidence.inputs(node)), node_(node) {
    for (const auto& [subscription, activity] : inputs_.subscriptions()) {
      const bool is_kept = activity.outputs.empty() &&
                           is_kept_by_library(objects[*objects.topic_of(objects[subscription])]);
      if (evidence.of(subscription).ran && !is_kept) subscriptions_.insert(subscription);
    }
    for (const execution::Subscription& subscription : objects.subscriptions) {
      if (subscription.node == node && !evidence.of(subscription.callback).ran &&
          evidence.is_taken_to_store(subscription.callback) &&
          !is_kept_by_library(objects[subscription.topic])) {
        taken_.insert(subscription.callback);
      }
    }
    for (const execution::Timer& timer : objects.timers) {
      const auto& activity = evidence.of(timer.callback);
      const bool is_triggered = objects[timer.callback].triggers.has_value();
      // Broadcasters of transforms, and timers that tell how a node is, are in many nodes that
      // store something for another reason.
      const bool sends = std::ranges::any_of(activity.topics, [&](TopicIndex topic) {
        return !execution::is_transform(objects[topic]) && !execution::is_diagnosis(objects[topic]);
      });
      if (timer.node == node && activity.ran && sends && !is_triggered) {
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
    if (const auto link = waiting_for_transform(joined)) {
      links.push_back(*link);
      joined.insert(link->inputs.begin(), link->inputs.end());
    }
    for (const Join& alone : filters_besides(joined)) links.push_back(link_of(alone));
    for (const TopicIndex topic : inputs_.outputs_of(subscriptions_)) add_latest(topic, links);
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

  [[nodiscard]] bool is_filter(ObservedCallbackIndex subscription) const {
    return links::is_filter(objects_[subscription]);
  }
  [[nodiscard]] bool is_filter_of_cpp(ObservedCallbackIndex subscription) const {
    return links::is_filter_of_cpp(objects_[subscription]);
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

  /// How many sets more than there were messages of one of the inputs. A policy that uses a message
  /// at most once makes none.
  [[nodiscard]] std::uint64_t sets_without_new(const Members& members, TopicIndex topic) const {
    const std::uint64_t sets = inputs_.publications(topic);
    std::uint64_t most = 0;
    for (const ObservedCallbackIndex member : members) {
      const std::uint64_t messages = inputs_.subscriptions().at(member).runs + fewest_runs;
      most = std::max(most, sets - std::min(sets, messages));
    }
    return most;
  }

  /// Where sets use messages again, the filter has the policy `LatestTime`: whichever of its inputs
  /// completes a set, it takes the newest message of the others. Only where each filter of the node
  /// completes sets: others may be of another one. Where each message makes a set, the callbacks
  /// may as well pass on one message each.
  void add_latest(TopicIndex topic, std::vector<Link>& links) const {
    Members members = subscriptions_;
    std::erase_if(members, [this](auto member) { return !is_filter_of_cpp(member); });
    const Members senders = senders_on(topic);
    const std::uint64_t again = sets_without_new(members, topic);
    std::uint64_t messages = 0;
    for (const ObservedCallbackIndex one : members)
      messages += inputs_.subscriptions().at(one).runs;
    const bool is_each_a_set = inputs_.publications(topic) + fewest_runs > messages;
    if (members.size() < 2 || again == 0 || members != senders || is_each_a_set) return;
    for (const ObservedCallbackIndex sender : senders) {
      Link link;
      link.kind = Link::Kind::sampled;
      link.grounds = Grounds::inferred;
      link.process = objects_[node_].process;
      link.reader = sender;
      link.inputs.assign(members.begin(), members.end());
      std::erase(link.inputs, sender);
      const auto& publishers = evidence_.of(sender).publishers;
      link.outputs.assign(publishers.begin(), publishers.end());
      link.confidence.assign(link.inputs.size(), confidence_after(again));
      link.runs = inputs_.publications(topic);
      links.push_back(std::move(link));
    }
  }

  /// Filters of C++ that publish, and of which it is not known which set they complete: even the
  /// message that came last may be of none.
  [[nodiscard]] std::vector<Join> filters_besides(const Members& joined) const {
    std::vector<Join> found;
    for (const TopicIndex topic : inputs_.outputs_of(subscriptions_)) {
      Members senders = senders_on(topic);
      if (sets_without_new(senders, topic) > 0) continue;
      std::erase_if(senders, [&](ObservedCallbackIndex sender) {
        return joined.contains(sender) || !is_filter_of_cpp(sender);
      });
      if (senders.empty()) continue;
      Join join{JoinKind::newest, std::move(senders), {topic}};
      join.matches_stamps = true;
      found.push_back(std::move(join));
    }
    return found;
  }

  /// What a callback that receives /tf publishes is of a message that waited for the transform in a
  /// tf2_ros::MessageFilter. Only where one subscription of the node alone can have waited.
  [[nodiscard]] std::optional<Link> waiting_for_transform(const Members& joined) const {
    const auto publishers = sent_on_transforms(evidence_, objects_, node_);
    if (publishers.empty()) return std::nullopt;
    Members waiting = subscriptions_;
    std::erase_if(waiting, [&](ObservedCallbackIndex subscription) {
      const auto& own = evidence_.of(subscription).publishers;
      const bool sends_others =
          !own.empty() && std::ranges::none_of(own, [&](PublisherIndex publisher) {
            return publishers.contains(publisher);
          });
      return !is_filter_of_cpp(subscription) || sends_others ||
             execution::is_transform(objects_[*objects_.topic_of(objects_[subscription])]);
    });
    if (waiting.size() != 1 || joined.contains(*waiting.begin())) return std::nullopt;
    Link link;
    link.kind = Link::Kind::joined;
    link.grounds = Grounds::inferred;
    link.process = objects_[node_].process;
    link.inputs.assign(waiting.begin(), waiting.end());
    link.outputs.assign(publishers.begin(), publishers.end());
    link.waits_for_transform = true;
    link.runs = runs_of(waiting);
    link.confidence = {confidence_after(link.runs)};
    return link;
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
    link.last_is_of_set = !join.matches_stamps || last_is_of_set(objects_, link.inputs);
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
          evidence_.is_watchdog(objects_, timer, subscription) ||
          !inputs_.subscriptions().at(subscription).outputs.empty()) {
        continue;
      }
      link.inputs.push_back(subscription);
      link.confidence.push_back(confidence(subscription, timer));
    }
    for (const ObservedCallbackIndex subscription : taken_) {
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
  /// Those whose messages others of the node take themselves, to store them.
  Members taken_;
  /// The timers that publish.
  Members timers_;
};

/// Finds what nothing shows.
class UnknownUses {
 public:
  UnknownUses(const Evidence& evidence, const Objects& objects, std::span<const Link> links)
      : evidence_(evidence), objects_(objects) {
    for (const Link& link : links) {
      if (link.grounds == Grounds::ambiguous) continue;
      if (link.waits_for_transform) known_to_wait_.insert(link.inputs.begin(), link.inputs.end());
      used_.insert(link.inputs.begin(), link.inputs.end());
      if (link.reader) used_.insert(*link.reader);
      explained_.insert(link.outputs.begin(), link.outputs.end());
    }
    for (const execution::Publisher& publisher : objects.publishers) {
      const bool is_left_out = !publisher.node || objects.has_all_links(publisher.process);
      if (!is_left_out && is_output(publisher.topic)) publishing_.insert(*publisher.node);
    }
  }

  Unknown find() {
    for (const NodeIndex node : publishing_) {
      has_waited_ = !sent_on_transforms(evidence_, objects_, node).empty();
      for (const auto& [subscription, activity] : evidence_.inputs(node).subscriptions()) {
        if (is_unknown(subscription, activity)) unknown_.subscriptions.push_back(subscription);
      }
    }
    for (const execution::Subscription& subscription : objects_.subscriptions) {
      if (subscription.node && publishing_.contains(*subscription.node) &&
          !used_.contains(subscription.callback) &&
          evidence_.is_taken_to_store(subscription.callback) &&
          !is_kept_by_library(objects_[subscription.topic])) {
        unknown_.subscriptions.push_back(subscription.callback);
      }
    }
    find_senders();
    return std::move(unknown_);
  }

 private:
  [[nodiscard]] bool is_output(TopicIndex topic) const {
    return execution::housekeeping_of(objects_[topic]) == execution::Housekeeping::none &&
           !execution::is_diagnosis(objects_[topic]);
  }

  /// Whether its callback publishes only now and then what else is sent outside of callbacks, as
  /// done callbacks of futures do.
  [[nodiscard]] bool is_handed_over(ObservedCallbackIndex subscription,
                                    const NodeInputs::Activity& activity) const {
    const auto& publishers = evidence_.of(subscription).publishers;
    return 2 * activity.sending_runs < activity.runs &&
           std::ranges::any_of(publishers, [this](PublisherIndex publisher) {
             return evidence_.sent_outside(publisher).count >= fewest_runs;
           });
  }

  [[nodiscard]] bool is_unknown(ObservedCallbackIndex subscription,
                                const NodeInputs::Activity& activity) const {
    const execution::Callback& callback = objects_[subscription];
    if (is_kept_by_library(objects_[*objects_.topic_of(callback)])) return false;
    if (has_waited_ && is_filter_of_cpp(callback) && !known_to_wait_.contains(subscription)) {
      return true;
    }
    const bool passes_on = !activity.outputs.empty() && !is_filter(callback) &&
                           !is_handed_over(subscription, activity);
    return !passes_on && !used_.contains(subscription);
  }

  /// Whether a callback of the node passes on what it receives, and may keep it for this timer
  /// (null: for something outside of callbacks).
  [[nodiscard]] bool may_keep(NodeIndex node, const execution::Timer* timer) const {
    return std::ranges::any_of(evidence_.inputs(node).subscriptions(), [&](const auto& entry) {
      const auto& [subscription, activity] = entry;
      const auto& senders = evidence_.of(subscription).senders;
      const bool is_of_timer =
          timer != nullptr && ((senders.size() == 1 && senders.contains(timer->callback)) ||
                               evidence_.is_watchdog(objects_, timer->callback, subscription));
      return !activity.outputs.empty() && !is_of_timer &&
             !execution::is_transform(objects_[*objects_.topic_of(objects_[subscription])]);
    });
  }

  void find_senders() {
    std::set<NodeIndex> named;
    for (const ObservedCallbackIndex callback : unknown_.subscriptions) {
      named.insert(*objects_.node_of(objects_[callback]));
    }
    const auto is_explained = [this](PublisherIndex publisher) {
      const TopicIndex topic = objects_[publisher].topic;
      return explained_.contains(publisher) || !is_output(topic) ||
             execution::is_transform(objects_[topic]) ||
             objects_[topic].ends_with("/transition_event");  // of a node's life cycle
    };
    for (const execution::Timer& timer : objects_.timers) {
      const auto& activity = evidence_.of(timer.callback);
      if (timer.node && publishing_.contains(*timer.node) && !named.contains(*timer.node) &&
          activity.ran && !objects_[timer.callback].triggers &&
          !std::ranges::all_of(activity.publishers, is_explained) &&
          may_keep(*timer.node, &timer)) {
        unknown_.timers.push_back(timer.callback);
      }
    }
    for (std::size_t i = 0; i < objects_.publishers.size(); ++i) {
      const PublisherIndex publisher(i);
      const auto& node = objects_[publisher].node;
      if (node && publishing_.contains(*node) && !named.contains(*node) &&
          !is_explained(publisher) && evidence_.sent_outside(publisher).count >= fewest_runs &&
          may_keep(*node, nullptr)) {
        unknown_.publishers.push_back(publisher);
      }
    }
  }

  const Evidence& evidence_;
  const Objects& objects_;
  std::set<ObservedCallbackIndex> used_;
  std::set<ObservedCallbackIndex> known_to_wait_;
  std::set<PublisherIndex> explained_;
  std::set<NodeIndex> publishing_;
  bool has_waited_ = false;
  Unknown unknown_;
};

}  // namespace

std::int64_t confidence_after(std::uint64_t times) {
  constexpr std::int64_t unproved = 50;
  constexpr std::int64_t most = 99;
  const auto n = static_cast<double>(times);
  return std::clamp(static_cast<std::int64_t>(100.0 * n / (n + 1.0)), unproved, most);
}

bool is_filter(const execution::Callback& callback) {
  return callback.symbol.find("message_filters") != std::string::npos;
}

bool is_filter_of_cpp(const execution::Callback& callback) {
  return callback.symbol.find("message_filters::") != std::string::npos;
}

bool last_is_of_set(const Objects& objects, std::span<const ObservedCallbackIndex> inputs) {
  return std::ranges::all_of(inputs, [&](ObservedCallbackIndex input) {
    const execution::Callback& callback = objects[input];
    return value_at(objects.client_libraries, callback.process) ==
               execution::ClientLibrary::rclpy ||
           (!callback.symbol.empty() && callback.symbol.find("::") == std::string::npos);
  });
}

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

std::vector<Link> observed_links(const Evidence& evidence, const Objects& objects) {
  std::vector<Link> links;
  for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
    const auto& activity = evidence.of(ObservedCallbackIndex(i));
    if (activity.reads.empty() || activity.publishers.empty()) continue;
    Link link;
    link.is_taken = true;
    link.grounds = activity.is_of_thread ? Grounds::inferred : Grounds::observed;
    link.process = objects.callbacks[i].process;
    link.inputs.assign(activity.reads.begin(), activity.reads.end());
    link.outputs.assign(activity.publishers.begin(), activity.publishers.end());
    link.reader = ObservedCallbackIndex(i);
    std::erase(link.inputs, *link.reader);  // its run has the newest
    if (activity.is_of_thread) link.confidence.assign(link.inputs.size(), confidence_after(0));
    if (!link.inputs.empty()) links.push_back(std::move(link));
  }
  return links;
}

Unknown unknown_uses(const Evidence& evidence, const Objects& objects,
                     std::span<const Link> links) {
  return UnknownUses(evidence, objects, links).find();
}

std::vector<Link> inferred_links(const Evidence& evidence, const Objects& objects,
                                 const std::set<NodeIndex>& known) {
  std::vector<Link> links;
  for (std::size_t i = 0; i < objects.nodes.size(); ++i) {
    const NodeIndex node(i);
    if (known.contains(node) || objects.has_all_links(objects[node].process)) continue;
    auto more = NodeInference(evidence, objects, node).run();
    std::ranges::move(more, std::back_inserter(links));
  }
  return links;
}

Declared all_links(const Evidence& evidence, const Objects& objects,
                   const Declarations* declarations) {
  std::vector<Link> links = declared_links(objects);
  const std::set<NodeIndex> known = nodes_of(objects, links);
  std::ranges::move(observed_links(evidence, objects), std::back_inserter(links));
  std::ranges::move(inferred_links(evidence, objects, known), std::back_inserter(links));
  std::ranges::move(hand_overs(evidence, objects, links), std::back_inserter(links));
  return with_declarations(std::move(links), declarations, evidence, objects);
}

}  // namespace takt::links
