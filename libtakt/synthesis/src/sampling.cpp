#include "sampling.hpp"

#include <algorithm>
#include <set>

#include "confidence.hpp"

namespace takt::synthesis {
namespace {

using execution::MessageLink;
using execution::NodeIndex;
using execution::Objects;

/// Timers of the node that published after start-up; on these topics, if there are any.
std::vector<ObservedCallbackIndex> publishing_timers(const Observations& observations,
                                                     const Objects& objects, NodeIndex node,
                                                     const std::set<TopicIndex>& topics) {
  std::vector<ObservedCallbackIndex> timers;
  for (const execution::Timer& timer : objects.timers) {
    const bool publishes = topics.empty()
                               ? observations.publishes(objects, timer.callback)
                               : std::ranges::any_of(topics, [&](TopicIndex topic) {
                                   return observations.outputs().contains({timer.callback, topic});
                                 });
    const bool is_new = std::ranges::find(timers, timer.callback) == timers.end();
    if (is_new && timer.node == node && publishes &&
        observations.callback(timer.callback) != nullptr) {
      timers.push_back(timer.callback);
    }
  }
  return timers;
}

/// How sure it is that the timer reads what the subscription keeps.
std::int64_t confidence(const Beginning& subscription, const Beginning& timer, std::size_t timers) {
  const bool waited = subscription.run && timer.publication &&
                      *subscription.run <= *timer.publication && timer.silent_runs > 0;
  const std::int64_t alone = confidence_after(waited ? timer.silent_runs : 0);
  return std::max<std::int64_t>(alone / static_cast<std::int64_t>(timers), 1);
}

}  // namespace

std::vector<SampledInput> find_sampled_inputs(const Observations& observations,
                                              const Objects& objects) {
  std::vector<SampledInput> found;
  std::set<ObservedCallbackIndex> declared;
  for (const MessageLink& link : objects.message_links) {
    std::set<TopicIndex> topics;
    for (const execution::PublisherIndex output : link.outputs) {
      topics.insert(objects[output].topic);
    }
    for (const execution::SubscriptionIndex input : link.inputs) {
      const auto node = objects[input].node;
      if (link.kind != MessageLink::Kind::periodic_async || !node || topics.empty() ||
          observations.callback(objects[input].callback) == nullptr) {
        continue;
      }
      for (const auto timer : publishing_timers(observations, objects, *node, topics)) {
        found.push_back({objects[input].callback, timer, {}});
        declared.insert(objects[input].callback);
      }
    }
  }
  for (const execution::InputLink& link : objects.input_links) {
    if (link.kind != execution::InputLink::Kind::sampled) continue;
    for (const ObservedCallbackIndex input : link.inputs)
      found.push_back({input, *link.reader, {}});
  }
  for (const auto& [node, inputs] : observations.inputs()) {
    if (objects.has_all_links(objects[node].process)) continue;
    const auto timers = publishing_timers(observations, objects, node, {});
    for (const auto& [subscription, activity] : inputs.subscriptions()) {
      if (!activity.outputs.empty() || declared.contains(subscription) ||
          observations.callback(subscription) == nullptr) {
        continue;
      }
      const auto& senders = observations.callback(subscription)->activated_by;
      for (const ObservedCallbackIndex timer : timers) {
        if (senders.size() == 1 && senders.contains(timer)) {
          continue;  // the timer's own messages come back
        }
        found.push_back({subscription, timer,
                         confidence(observations.beginning(subscription),
                                    observations.beginning(timer), timers.size())});
      }
    }
  }
  return found;
}

}  // namespace takt::synthesis
