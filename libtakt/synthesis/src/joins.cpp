#include "joins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "confidence.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/model/names.hpp"
#include "takt/model/topics.hpp"

namespace takt::synthesis {
namespace {

using execution::NodeIndex;
using execution::Objects;
using model::JoinKind;
using Members = std::set<ObservedCallbackIndex>;
using Topics = std::set<TopicIndex>;

/// Fewer publications than this show nothing.
constexpr std::uint64_t least_publications = 4;

/// A node that uses fewer than one in so many of an input's messages reads it rather than waits for
/// it (transforms, a state that is sent often).
constexpr std::uint64_t most_kept = 3;

/// Where a node uses message_filters, the functions that it registers name it.
constexpr std::string_view synchronizer = "message_filters";

Topics outputs_of(const NodeInputs& inputs, const Members& members) {
  Topics topics;
  for (const ObservedCallbackIndex member : members) {
    const auto& outputs = inputs.subscriptions().at(member).outputs;
    topics.insert(outputs.begin(), outputs.end());
  }
  return topics;
}

/// The join, if every run agrees that it publishes on these topics.
std::optional<ObservedJoin> verified(const NodeInputs& inputs, const Members& members,
                                     JoinKind kind) {
  const Topics topics = outputs_of(inputs, members);
  ObservedJoin join{.kind = kind, .members = {members.begin(), members.end()}};
  for (const TopicIndex topic : topics) {
    if (!inputs.agrees(kind, members, topic)) {
      return std::nullopt;
    }
    const execution::CostCurve& cost = inputs.cost(kind, topic);
    join.execution_time = execution::merge_costs(std::move(join.execution_time), cost.values());
    join.without_largest =
        execution::merge_costs(std::move(join.without_largest), cost.values_without_largest());
  }
  return topics.empty() || !join.execution_time.empty() ? std::optional(join) : std::nullopt;
}

/// The most that n sets cost if no publication shows when one is complete: n runs of the member
/// that ran least. A member that ran up to k times as often adds k · n runs, and one more if k > 1.
std::vector<Duration> cost_of_sets(const Observations& observations, const Members& members) {
  std::uint64_t least = UINT64_MAX;
  for (const ObservedCallbackIndex member : members) {
    least = std::min(least, observations.callback(member)->count);
  }
  std::vector<Duration> sum(execution::curve_length);
  for (const ObservedCallbackIndex member : members) {
    const CallbackObservation& observation = *observations.callback(member);
    const std::uint64_t more = (observation.count - 1) / least + 1;
    const auto& curve = observation.cost();
    for (std::size_t n = 0; n < sum.size(); ++n) {
      const std::uint64_t runs = (n + 1) * more + (more > 1 ? 1u : 0u);
      const auto whole = static_cast<std::int64_t>(runs / curve.size());
      sum[n] = bounded(sum[n] + bounded(curves::saturating_multiply(curve.back(), whole)));
      if (runs % curve.size() != 0) sum[n] = bounded(sum[n] + curve[runs % curve.size() - 1]);
    }
  }
  for (std::size_t n = 1; n < sum.size(); ++n) {
    for (std::size_t m = 0; m < n; ++m) {
      sum[n] = std::min(sum[n], sum[m] + sum[n - m - 1]);
    }
  }
  return sum;
}

/// Infers the joins of a node.
class Inference {
 public:
  Inference(const Observations& observations, const Objects& objects, NodeIndex node,
            const NodeInputs& inputs)
      : observations_(observations), objects_(objects), inputs_(inputs) {
    for (const execution::Timer& timer : objects.timers) {
      timers_publish_ = timers_publish_ ||
                        (timer.node == node && observations.publishes(objects, timer.callback));
    }
  }

  std::vector<ObservedJoin> run() {
    std::vector<ObservedJoin> joins;
    Members all;
    for (const auto& [subscription, activity] : inputs_.subscriptions()) {
      all.insert(subscription);
    }
    Topics done;
    for (const TopicIndex topic : outputs_of(inputs_, all)) {
      if (done.contains(topic) || inputs_.publications(topic) < least_publications) {
        continue;
      }
      for (const JoinKind kind : {JoinKind::newest, JoinKind::and_}) {
        const Members members = members_of(topic, kind);
        auto join = members.size() < 2 ? std::nullopt : verified(inputs_, members, kind);
        if (!join) {
          continue;
        }
        join->confidence = confidence(members, topic, kind);
        done.merge(outputs_of(inputs_, members));
        joins.push_back(std::move(*join));
        break;
      }
    }
    return joins;
  }

 private:
  /// Whether the subscription seems to do nothing but keep its messages for a publication on the
  /// topic.
  [[nodiscard]] bool only_keeps(ObservedCallbackIndex subscription, TopicIndex topic) const {
    const auto& activity = inputs_.subscriptions().at(subscription);
    if (objects_[subscription].symbol.find(synchronizer) != std::string::npos) {
      return true;
    }
    return !timers_publish_ && activity.outputs.empty() &&
           activity.runs <= most_kept * inputs_.publications(topic) &&
           10 * activity.short_runs >= 9 * activity.runs;
  }

  /// The inputs without which nothing is published on the topic. Empty if there is no such set.
  [[nodiscard]] Members members_of(TopicIndex topic, JoinKind kind) const {
    Members members = inputs_.always_present(kind, topic);
    std::erase_if(members, [this](ObservedCallbackIndex member) {
      return observations_.callback(member) == nullptr;
    });
    for (auto next = members.begin(); next != members.end();) {
      const bool needed =
          inputs_.waits_for(kind, members, *next, topic) != 0 || only_keeps(*next, topic);
      next = needed ? std::next(next) : members.erase(next);
      // Without this member, an earlier one may not be needed any more.
      next = needed ? next : members.begin();
    }
    for (const auto& [subscription, activity] : inputs_.subscriptions()) {
      if (activity.outputs.contains(topic) && !members.contains(subscription)) {
        return {};
      }
    }
    return members;
  }

  [[nodiscard]] std::int64_t confidence(const Members& members, TopicIndex topic,
                                        JoinKind kind) const {
    std::uint64_t least = UINT64_MAX;
    for (const ObservedCallbackIndex member : members) {
      least = std::min(least, inputs_.waits_for(kind, members, member, topic));
    }
    return confidence_after(least);
  }

  const Observations& observations_;
  const Objects& objects_;
  const NodeInputs& inputs_;
  bool timers_publish_ = false;
};

class Search {
 public:
  Search(const Observations& observations, const Objects& objects)
      : observations_(observations), objects_(objects) {}

  /// Joins that the programs declare, with their kind or without: then of whichever kind the runs
  /// agree with.
  void add_links() {
    for (const execution::InputLink& link : objects_.input_links) {
      using Kind = execution::InputLink::Kind;
      const Members members(link.inputs.begin(), link.inputs.end());
      const NodeInputs* inputs = inputs_of(members);
      if (link.kind != Kind::sampled && inputs != nullptr) {
        const JoinKind kind = link.kind == Kind::and_ ? JoinKind::and_ : JoinKind::newest;
        add_verified(verified(*inputs, members, kind), members,
                     fmt::format("joins its inputs (\"{}\")", model::to_string(kind)));
      }
    }
    for (const execution::MessageLink& link : objects_.message_links) {
      Members members;
      for (const execution::SubscriptionIndex input : link.inputs) {
        members.insert(objects_[input].callback);
      }
      const NodeInputs* inputs = inputs_of(members);
      if (link.kind != execution::MessageLink::Kind::partial_sync || inputs == nullptr) {
        continue;
      }
      auto join = verified(*inputs, members, JoinKind::newest);
      if (!join) {
        join = verified(*inputs, members, JoinKind::and_);
      }
      add_verified(std::move(join), members,
                   "waits for all of its inputs (message_link_partial_sync)");
    }
  }

  void add_declared(const model::Model& model) {
    for (const model::Join& declared : model.joins) {
      const std::string node = model::node_name(model[declared.callback]);
      const auto topics = model::subscribed_topics(model, declared.callback);
      for (const auto& [index, inputs] : observations_.inputs()) {
        Members members;
        if (objects_[index].full_name() != node || declared.confidence) {
          continue;
        }
        for (const auto& [subscription, activity] : inputs.subscriptions()) {
          if (observations_.callback(subscription) != nullptr &&
              topics.contains(objects_[*objects_.topic_of(objects_[subscription])])) {
            members.insert(subscription);
          }
        }
        auto join = members.size() < 2 || members.size() != topics.size()
                        ? std::nullopt
                        : verified(inputs, members, declared.kind);
        if (join) add(std::move(*join), members);
      }
    }
  }

  void add_inferred() {
    for (const auto& [node, inputs] : observations_.inputs()) {
      if (objects_.has_all_links(objects_[node].process)) continue;
      auto joins = Inference(observations_, objects_, node, inputs).run();
      std::ranges::move(joins, std::back_inserter(found_.joins));
    }
  }

  ObservedJoins result() { return std::move(found_); }

 private:
  void add(ObservedJoin join, const Members& members) {
    if (join.execution_time.empty()) {
      const auto* const sets = observations_.declared_sets().cost(members);
      join.execution_time = sets != nullptr ? sets->values() : cost_of_sets(observations_, members);
      join.without_largest = sets != nullptr ? sets->values_without_largest() : join.execution_time;
    }
    found_.joins.push_back(std::move(join));
  }

  void add_verified(std::optional<ObservedJoin> join, const Members& members,
                    const std::string& declaration) {
    if (join) {
      add(std::move(*join), members);
      return;
    }
    found_.warnings.push_back(
        fmt::format("{} declares that it {}, but publishes at other times, too: not taken for a "
                    "join",
                    objects_.node_name(objects_[*members.begin()]), declaration));
  }

  /// The record of the node whose subscriptions these are. Null if no node has all of them, one of
  /// them did not run since start-up, or they are fewer than two: what is no join.
  [[nodiscard]] const NodeInputs* inputs_of(const Members& members) const {
    const bool all_ran = std::ranges::all_of(members, [this](ObservedCallbackIndex member) {
      return observations_.callback(member) != nullptr;
    });
    if (members.size() < 2 || !all_ran) return nullptr;
    for (const auto& [node, inputs] : observations_.inputs()) {
      if (std::ranges::all_of(members, [&](ObservedCallbackIndex member) {
            return inputs.subscriptions().contains(member);
          })) {
        return &inputs;
      }
    }
    return nullptr;
  }

  const Observations& observations_;
  const Objects& objects_;
  ObservedJoins found_;
};

}  // namespace

ObservedJoins find_joins(const Observations& observations, const Objects& objects,
                         const model::Model* declared) {
  Search search(observations, objects);
  search.add_links();
  if (declared != nullptr) {
    search.add_declared(*declared);
  }
  search.add_inferred();
  return search.result();
}

}  // namespace takt::synthesis
