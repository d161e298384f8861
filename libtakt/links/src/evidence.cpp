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

}  // namespace

const NodeInputs& Evidence::inputs(execution::NodeIndex node) const {
  static const NodeInputs none;
  return node.value() < inputs_.size() ? inputs_[node.value()] : none;
}

const Evidence::Activity& Evidence::of(ObservedCallbackIndex callback) const {
  static const Activity none;
  return callback.value() < callbacks_.size() ? callbacks_[callback.value()] : none;
}

void Evidence::on_publication(const Database& database, const Publication& publication) {
  if (publication.instance == InstanceId::none || publication.repeats_intra_process ||
      is_of_ros(database.objects()[publication.topic])) {
    return;
  }
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

  Activity& activity = grow_to(callbacks_, instance.callback);
  activity.ran = true;
  Beginning& beginning = activity.beginning;
  beginning.run = std::min(beginning.run.value_or(instance.start), instance.start);
  if (!outputs.empty() && !beginning.publication) {
    beginning.publication = instance.end;
  }
  beginning.silent_runs += beginning.publication ? 0u : 1u;

  const auto node = objects.node_of(owner);
  if (owner.kind != execution::CallbackKind::subscription || !node ||
      is_of_ros(objects[*objects.topic_of(owner)])) {
    return;
  }
  const Publication* const source = database.publication(instance.source);
  if (source != nullptr && source->instance != InstanceId::none) {
    activity.senders.insert(source->callback);
  }
  grow_to(inputs_, *node).add(instance.callback, outputs, instance.execution_time());
}

void Evidence::forget(Activity& activity) {
  Activity kept;
  kept.beginning = activity.beginning;
  activity = std::move(kept);
}

void Evidence::restart() {
  std::ranges::for_each(callbacks_, forget);
  for (NodeInputs& inputs : inputs_) inputs.restart();
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
