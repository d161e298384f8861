#include "joins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "takt/curves/execution_time_curve.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/model/names.hpp"
#include "takt/model/topics.hpp"

namespace takt::synthesis {
namespace {

using execution::Objects;
using links::Link;
using links::NodeInputs;
using model::JoinKind;
using Members = NodeInputs::Members;

/// Adds the cost of the sets that the members complete.
void add_costs(const NodeInputs& inputs, const Members& members, ObservedJoin& join) {
  for (const TopicIndex topic : inputs.outputs_of(members)) {
    const execution::CostCurve& cost = inputs.cost(join.kind, topic);
    join.execution_time = curves::merge_costs(std::move(join.execution_time), cost.values());
    join.without_largest =
        curves::merge_costs(std::move(join.without_largest), cost.values_without_largest());
  }
}

/// The join, if every run agrees that it publishes on these topics.
std::optional<ObservedJoin> verified(const NodeInputs& inputs, const Members& members,
                                     JoinKind kind) {
  const auto topics = inputs.outputs_of(members);
  const bool agrees = std::ranges::all_of(
      topics, [&](TopicIndex topic) { return inputs.agrees(kind, members, topic); });
  ObservedJoin join{.kind = kind, .members = {members.begin(), members.end()}};
  add_costs(inputs, members, join);
  return agrees && (topics.empty() || !join.execution_time.empty()) ? std::optional(join)
                                                                    : std::nullopt;
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

class Search {
 public:
  Search(const Observations& observations, const Objects& objects)
      : observations_(observations), objects_(objects) {}

  void add(const Link& link) {
    const Members members(link.inputs.begin(), link.inputs.end());
    const NodeInputs* inputs = inputs_of(members);
    if (link.kind != Link::Kind::joined || link.is_handed || inputs == nullptr) return;
    if (link.grounds == links::Grounds::inferred || link.matches_stamps) {
      add_inferred(link, members, *inputs);
    } else {
      add_declared(link, members, *inputs);
    }
  }

  void add_declared(const model::Model& model) {
    for (const model::Join& declared : model.joins) {
      const std::string node = model::node_name(model[declared.callback]);
      const auto topics = model::subscribed_topics(model, declared.callback);
      for (std::size_t i = 0; i < observations_.links().inputs().size(); ++i) {
        const NodeInputs& inputs = observations_.links().inputs()[i];
        Members members;
        if (objects_.nodes[i].full_name() != node || declared.confidence) {
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

  /// A callback of a model publishes for its join alone.
  void add_inferred(const Link& link, const Members& members, const NodeInputs& inputs) {
    std::set<TopicIndex> topics;
    for (const execution::PublisherIndex output : link.outputs) {
      topics.insert(objects_[output].topic);
    }
    ObservedJoin join{
        .kind = link.join, .members = link.inputs, .confidence = link.confidence.front()};
    add_costs(inputs, members, join);
    if (!std::ranges::includes(topics, inputs.outputs_of(members)) || join.execution_time.empty()) {
      return;
    }
    found_.joins.push_back(std::move(join));
  }

  /// A declaration without a kind is of whichever kind the runs agree with.
  void add_declared(const Link& link, const Members& members, const NodeInputs& inputs) {
    auto join = verified(inputs, members, link.join);
    const bool has_kind = link.outputs.empty();
    if (!join && !has_kind) join = verified(inputs, members, JoinKind::and_);
    if (join) {
      add(std::move(*join), members);
      return;
    }
    const std::string declaration =
        has_kind ? fmt::format("joins its inputs (\"{}\")", model::to_string(link.join))
                 : "waits for all of its inputs (message_link_partial_sync)";
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
    const auto node = objects_.node_of(objects_[*members.begin()]);
    if (!node) return nullptr;
    const NodeInputs& inputs = observations_.links().inputs(*node);
    const bool has_all = std::ranges::all_of(members, [&](ObservedCallbackIndex member) {
      return inputs.subscriptions().contains(member);
    });
    return has_all ? &inputs : nullptr;
  }

  const Observations& observations_;
  const Objects& objects_;
  ObservedJoins found_;
};

}  // namespace

ObservedJoins find_joins(const Observations& observations, const Objects& objects,
                         std::span<const Link> links, const model::Model* declared) {
  Search search(observations, objects);
  const auto is_inferred = [](const Link& link) {
    return link.grounds == links::Grounds::inferred;
  };
  for (const Link& link : links) {
    if (!is_inferred(link)) search.add(link);
  }
  if (declared != nullptr) {
    search.add_declared(*declared);
  }
  for (const Link& link : links) {
    if (is_inferred(link)) search.add(link);
  }
  return search.result();
}

}  // namespace takt::synthesis
