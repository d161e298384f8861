#include "takt/links/evidence.hpp"

#include <algorithm>
#include <utility>

#include "takt/base/grow.hpp"
#include "takt/execution/names.hpp"

namespace takt::links {
namespace {

using execution::CallbackInstance;
using execution::Database;
using execution::InstanceId;
using execution::Publication;

/// Whether messages on a topic are no output of the application.
bool is_of_ros(const std::string& topic) {
  return execution::housekeeping_of(topic) != execution::Housekeeping::none;
}

/// Fewer runs than these prove nothing.
constexpr std::uint64_t fewest_runs_watched = 8;

/// A timer that a callback resets is due a period later, and the callback began before that. What
/// the clocks of ROS and of the trace differ by is less than the rest.
Duration almost_a_period(Duration period) { return 9 * (period / 10); }

}  // namespace

bool Evidence::is_watchdog(const execution::Objects& objects, ObservedCallbackIndex timer,
                           ObservedCallbackIndex subscription) const {
  const auto node = objects.node_of(objects[subscription]);
  return node && inputs(*node).subscriptions().at(subscription).runs >= fewest_runs_watched &&
         !of(timer).soon_after.contains(subscription) &&
         of(timer).again_after.contains(subscription);
}

bool Evidence::is_taken_to_store(ObservedCallbackIndex subscription) const {
  const auto& readers = of(subscription).read_by;
  return !readers.empty() && std::ranges::all_of(readers, [this](ObservedCallbackIndex reader) {
    return of(reader).topics.empty();
  });
}

const NodeInputs& Evidence::inputs(execution::NodeIndex node) const {
  static const NodeInputs none;
  return node.value() < inputs_.size() ? inputs_[node.value()] : none;
}

const Evidence::Activity& Evidence::of(ObservedCallbackIndex callback) const {
  static const Activity none;
  return callback.value() < callbacks_.size() ? callbacks_[callback.value()] : none;
}

void Evidence::on_publication(const Database& database, const Publication& publication) {
  if (publication.repeats_intra_process || is_of_ros(database.objects()[publication.topic])) return;
  const bool is_inside = publication.instance != InstanceId::none;
  if (publication.publisher &&
      (!is_inside || database.objects()[publication.callback].event_source)) {
    SentOutside& sent = sent_outside_[*publication.publisher];
    if (sent.count++ == 0) sent.thread = publication.thread;
    if (sent.thread != publication.thread) sent.thread.reset();
    if (sent.times.size() < most_times) sent.times.push_back(publication.begin);
  }
  if (!is_inside) return;
  Activity& activity = grow_to(callbacks_, publication.callback);
  activity.topics.insert(publication.topic);
  if (publication.publisher) activity.publishers.insert(*publication.publisher);
  Sent& sent = grow_to(sent_, publication.thread);
  if (sent.instance != publication.instance) {
    sent.instance = publication.instance;
    sent.topics.clear();
  }
  sent.topics.insert(publication.topic);
}

void Evidence::on_instance(const Database& database, const CallbackInstance& instance) {
  static const std::set<TopicIndex> nothing;
  const execution::Objects& objects = database.objects();
  const execution::Callback& owner = objects[instance.callback];
  const Sent& sent = grow_to(sent_, instance.thread);
  const auto& outputs = sent.instance == instance.id ? sent.topics : nothing;

  if (!owner.event_source) grow_to(serving_, instance.thread) = 1;
  Activity& activity = grow_to(callbacks_, instance.callback);
  activity.ran = true;
  const auto before = std::exchange(activity.last, instance.start);
  // An executor takes a message before it calls the callback.
  activity.is_of_thread |= instance.taken == instance.start;
  Beginning& beginning = activity.beginning;
  beginning.run = std::min(beginning.run.value_or(instance.start), instance.start);
  if (!outputs.empty() && !beginning.publication) {
    beginning.publication = instance.end;
  }
  beginning.silent_runs += beginning.publication ? 0u : 1u;

  const auto node = objects.node_of(owner);
  if (owner.timer && node && node->value() < inputs_.size()) {
    const Instant since = instance.start - almost_a_period(objects[*owner.timer].period);
    for (const auto& [subscription, input] : inputs_[node->value()].subscriptions()) {
      const auto& last = callbacks_[subscription.value()].last;
      if (last && *last > since) activity.soon_after.insert(subscription);
      if (before && (!last || *last < *before)) activity.again_after.insert(subscription);
    }
  }
  if (owner.kind != execution::CallbackKind::subscription || !node ||
      is_of_ros(objects[*objects.topic_of(owner)])) {
    return;
  }
  const Publication* const source = database.publication(instance.source);
  if (source != nullptr && source->instance != InstanceId::none) {
    activity.senders.insert(source->callback);
  }
  grow_to(inputs_, *node).add(instance, outputs);
  if (outputs.empty()) {
    SilentRuns& silent = grow_to(silent_runs_, instance.callback);
    ++silent.count;
    if (silent.times.size() < most_times) silent.times.push_back(instance.start);
  }
}

const Evidence::SentOutside& Evidence::sent_outside(execution::PublisherIndex publisher) const {
  static const SentOutside none;
  const auto sent = sent_outside_.find(publisher);
  return sent == sent_outside_.end() ? none : sent->second;
}

const Evidence::SilentRuns& Evidence::silent_runs(ObservedCallbackIndex callback) const {
  static const SilentRuns none;
  return callback.value() < silent_runs_.size() ? silent_runs_[callback.value()] : none;
}

void Evidence::on_read(const Database& /*database*/, const execution::Read& read) {
  grow_to(callbacks_, read.reader_callback).reads.insert(read.callback);
  grow_to(callbacks_, read.callback).read_by.insert(read.reader_callback);
  grow_to(serving_, read.thread) = 1;
}

void Evidence::forget(Activity& activity) {
  Activity kept;
  kept.reads = activity.reads;
  kept.read_by = activity.read_by;
  kept.is_of_thread = activity.is_of_thread;
  kept.beginning = activity.beginning;
  activity = std::move(kept);
}

void Evidence::restart() {
  std::ranges::for_each(callbacks_, forget);
  for (NodeInputs& inputs : inputs_) inputs.restart();
}

void Evidence::keep_start_up() {
  start_up_inputs_ = inputs_;
  start_up_callbacks_ = callbacks_;
}

void Evidence::use_start_up(const execution::Objects& objects) {
  std::vector<bool> publishes(objects.nodes.size());
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    const auto node = objects.node_of(objects.callbacks[i]);
    if (node && !callbacks_[i].topics.empty()) publishes[node->value()] = true;
  }
  for (std::size_t i = 0; i < start_up_callbacks_.size(); ++i) {
    const auto node = objects.node_of(objects.callbacks[i]);
    if (node && !publishes[node->value()]) callbacks_[i] = start_up_callbacks_[i];
  }
  for (std::size_t i = 0; i < start_up_inputs_.size(); ++i) {
    if (!publishes[i]) inputs_[i] = start_up_inputs_[i];
  }
}

void Evidence::begin_phase(const execution::Objects& objects, execution::NodeIndex node) {
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    if (objects.node_of(objects.callbacks[i]) == node) {
      forget(callbacks_[i]);
    }
  }
  if (node.value() < inputs_.size()) inputs_[node.value()].begin_phase();
}

}  // namespace takt::links
