#include "takt/synthesis/observations.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "takt/base/grow.hpp"

namespace takt::synthesis {
namespace {

using execution::CallbackInstance;
using execution::CallbackKind;
using execution::InstanceId;
using execution::Publication;

/// Topics that any node may have: messages on them are no output of the application.
constexpr std::array<std::string_view, 3> topics_of_ros{"/rosout", "/parameter_events", "/clock"};

bool is_of_ros(std::string_view topic) { return std::ranges::count(topics_of_ros, topic) > 0; }

Instant activation_of(const CallbackInstance& instance, const Publication* publication) {
  return publication != nullptr ? publication->sent : instance.taken.value_or(instance.start);
}

}  // namespace

void Observations::add(const execution::Database& database, const Publication& publication) {
  if (publication.instance == InstanceId::none || publication.repeats_intra_process) {
    return;
  }
  OutputObservation& output = outputs_[{publication.callback, publication.topic}];
  const Publication* const cause = database.publication(publication.cause);
  if (cause != nullptr && cause->instance != InstanceId::none) {
    ++output.by_cause[cause->callback];
  }
  Sent& sent = grow_to(sent_, publication.thread);
  if (sent.instance != publication.instance) {
    sent.instance = publication.instance;
    sent.topics.clear();
  }
  output.most_per_instance = std::max(output.most_per_instance, ++sent.topics[publication.topic]);
}

void Observations::add_message(const CallbackInstance& instance, const Publication* publication,
                               CallbackObservation& callback) {
  if (publication == nullptr || publication->instance == InstanceId::none) {
    ++callback.activated_from_outside;
    callback.activations_from_outside.add(activation_of(instance, publication));
    return;
  }
  ++callback.activated_by[publication->callback];
  EdgeObservation& edge = edges_[{publication->callback, instance.callback, publication->topic}];
  ++edge.count;
  edge.shortest = std::min(edge.shortest, *instance.taken - publication->sent);
  // Which executors have several threads is known at the end.
  for (const bool alone : {false, true}) {
    auto& longest = alone ? edge.longest_visible_alone : edge.longest_visible;
    if (const auto visible = execution::visible_delay(instance, publication->sent, alone)) {
      longest = std::max(longest.value_or(Duration{0}), *visible);
    }
  }
}

void Observations::add(const execution::Database& database, const CallbackInstance& instance) {
  const execution::Objects& objects = database.objects();
  const execution::Callback& owner = objects[instance.callback];
  executors_.on_instance(database, instance);
  CallbackObservation& callback = grow_to(callbacks_, instance.callback);
  ++callback.count;
  callback.shortest = std::min(callback.shortest, instance.execution_time());
  callback.total += instance.execution_time();
  callback.execution_time.add(instance.execution_time());
  if (instance.overhead) {
    grow_to(overheads_, instance.thread).add(*instance.overhead);
  }
  const Publication* const publication = database.publication(instance.source);
  callback.activations.add(activation_of(instance, publication));
  if (owner.kind != CallbackKind::timer) {
    add_message(instance, publication, callback);
  }

  const auto outputs = published(objects, instance);
  Beginning& beginning = grow_to(beginnings_, instance.callback);
  beginning.run = std::min(beginning.run.value_or(instance.start), instance.start);
  if (!outputs.empty() && !beginning.publication) {
    beginning.publication = instance.end;
  }
  beginning.silent_runs += beginning.publication ? 0u : 1u;

  const auto node = objects.node_of(owner);
  if (node) {
    overlaps_.add(*node, instance);
  }
  if (owner.kind == CallbackKind::subscription && node &&
      !is_of_ros(objects[*objects.topic_of(owner)])) {
    inputs_[*node].add(instance.callback, outputs, instance.execution_time());
  }
}

std::set<TopicIndex> Observations::published(const execution::Objects& objects,
                                             const CallbackInstance& instance) const {
  std::set<TopicIndex> topics;
  const std::size_t thread = instance.thread.value();
  if (thread >= sent_.size() || sent_[thread].instance != instance.id) {
    return topics;
  }
  for (const auto& [topic, count] : sent_[thread].topics) {
    if (!is_of_ros(objects[topic])) {
      topics.insert(topic);
    }
  }
  return topics;
}

bool Observations::publishes(const execution::Objects& objects, ObservedCallbackIndex index) const {
  return std::ranges::any_of(outputs_, [&](const auto& output) {
    return output.first.first == index && !is_of_ros(objects[output.first.second]);
  });
}

execution::ExecutorActivity Observations::unnamed(const execution::Database& database,
                                                  execution::ThreadIndex thread) const {
  execution::ExecutorActivity activity = value_at(database.executor_activity(), thread);
  const auto before = value_at(activity_before_, thread);
  activity.events -= before.events;
  activity.unnamed_runs -= before.unnamed_runs;
  activity.unnamed_time -= before.unnamed_time;
  return activity;
}

void Observations::restart(const execution::Database& database, Instant time) {
  activity_before_ = database.executor_activity();
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    if (callbacks_[i].count != 0) {
      in_start_up_.insert(ObservedCallbackIndex(i));
    }
  }
  callbacks_.clear();
  edges_.clear();
  outputs_.clear();
  for (auto& [node, inputs] : inputs_) {
    inputs.restart();
  }
  overheads_.clear();
  executors_ = {};
  steady_since_ = time;
}

}  // namespace takt::synthesis
