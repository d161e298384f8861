#include "takt/execution/object_tracker.hpp"

#include <algorithm>
#include <utility>

#include "takt/base/grow.hpp"

namespace takt::execution {
namespace {

template <typename Index>
std::optional<Index> value_of(const Index* found) {
  return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace

TopicIndex ObjectTracker::topic(std::string_view name) {
  const auto [entry, is_new] =
      topic_of_.try_emplace(std::string(name), TopicIndex(objects_.topics.size()));
  if (is_new) {
    objects_.topics.emplace_back(name);
  }
  return entry->second;
}

std::optional<NodeIndex> ObjectTracker::node(ProcessIndex process, Handle handle) const {
  return value_of(nodes_.find(process, handle));
}

template <typename Index>
void ObjectTracker::place(Index object, ProcessIndex process, Handle node_handle) {
  const auto node_of = [object](Objects& all) -> std::optional<NodeIndex>& {
    return all[object].node;
  };
  node_of(objects_) = node(process, node_handle);
  if (!node_of(objects_)) {
    unplaced_.at(process, node_handle).emplace_back(node_of);
  }
}

ObservedCallbackIndex ObjectTracker::add_callback(Callback callback) {
  objects_.callbacks.push_back(std::move(callback));
  return ObservedCallbackIndex(objects_.callbacks.size() - 1);
}

ObservedCallbackIndex ObjectTracker::add_callback(const Occurrence& at, Handle handle,
                                                  Callback callback) {
  const ObservedCallbackIndex made = add_callback(std::move(callback));
  identities_.add(made, at.thread, handle, at.time);
  return made;
}

void ObjectTracker::own(ProcessIndex process, Handle callback, CallbackHandle::Owner owner,
                        Handle owner_handle) {
  CallbackHandle& entry = callback_handles_.at(process, callback);
  if (entry.owner != CallbackHandle::Owner::none) {
    entry = {};  // the address is re-used
  }
  entry.owner = owner;
  entry.owner_handle = owner_handle;
}

std::optional<ObservedCallbackIndex> ObjectTracker::resolve(ProcessIndex process,
                                                            const CallbackHandle& handle) {
  switch (handle.owner) {
    case CallbackHandle::Owner::timer:
      if (const auto* timer = timers_.find(process, handle.owner_handle)) {
        return objects_[*timer].callback;
      }
      break;
    case CallbackHandle::Owner::subscription:
      if (const auto* object = subscription_objects_.find(process, handle.owner_handle)) {
        if (const auto* subscription = subscriptions_.find(process, *object)) {
          return objects_[*subscription].callback;
        }
      }
      break;
    case CallbackHandle::Owner::service:
      if (const auto* service = services_.find(process, handle.owner_handle)) {
        return objects_[*service].callback;
      }
      break;
    case CallbackHandle::Owner::itself:
    case CallbackHandle::Owner::none:
      break;
  }
  return std::nullopt;
}

ObservedCallbackIndex ObjectTracker::settle(ObservedCallbackIndex callback,
                                            const std::string& symbol) {
  if (identities_.is_settled(callback)) return callback;
  const auto former = identities_.former(callback, symbol);
  if (!former) return callback;
  go_on(*former, callback);
  return *former;
}

void ObjectTracker::go_on(ObservedCallbackIndex former, ObservedCallbackIndex callback) {
  const auto node = objects_.node_of(objects_[former]);
  const auto newer = objects_.node_of(objects_[callback]);
  Callback& to = objects_[former];
  Callback& from = objects_[callback];
  from.continues = former;
  to.process = from.process;
  to.handle = from.handle;
  const auto move = [&](auto Callback::*owner) {
    if (!(from.*owner)) return;
    to.*owner = from.*owner;
    objects_[*(to.*owner)].callback = former;
  };
  move(&Callback::timer);
  move(&Callback::subscription);
  move(&Callback::service);
  move(&Callback::client);
  if (node != newer) go_on(*node, *newer);
}

void ObjectTracker::go_on(NodeIndex former, NodeIndex node) {
  Node& from = objects_[node];
  objects_[former].process = from.process;
  objects_[former].handle = from.handle;
  objects_[former].since = from.since;
  nodes_.at(from.process, from.handle) = former;
  hand_over(node, former);
}

void ObjectTracker::go_before(ObservedCallbackIndex callback, ObservedCallbackIndex later) {
  const auto node = objects_.node_of(objects_[callback]);
  const auto newer = objects_.node_of(objects_[later]);
  const Callback& from = objects_[callback];
  objects_[callback].continues = later;
  const auto move = [&](const auto& owner) {
    if (owner) objects_[*owner].callback = later;
  };
  move(from.timer);
  move(from.subscription);
  move(from.service);
  move(from.client);
  if (node != newer) hand_over(*node, *newer);
}

void ObjectTracker::hand_over(NodeIndex from, NodeIndex to) {
  objects_[from].continues = to;
  const auto move = [&](auto& list) {
    for (auto& object : list) {
      if (object.node == from) object.node = to;
    }
  };
  move(objects_.publishers);
  move(objects_.subscriptions);
  move(objects_.timers);
  move(objects_.services);
  move(objects_.clients);
  move(objects_.waitables);
  move(objects_.event_sources);
  move(objects_.lifecycle_machines);
}

TopicIndex ObjectTracker::triggers(ObservedCallbackIndex timer) {
  auto& topic = objects_[timer].triggers;
  if (!topic) {
    topic = TopicIndex(objects_.topics.size());
    objects_.topics.emplace_back();
  }
  return *topic;
}

void ObjectTracker::name(ObservedCallbackIndex index, Handle handle, const std::string& symbol) {
  Callback& callback = objects_[index];
  if (callback.handle == 0) {
    callback.handle = handle;
  }
  if (callback.symbol.empty()) {
    callback.symbol = symbol;
  }
}

bool ObjectTracker::announces_callback(SubscriptionIndex subscription) const {
  const Subscription& known = objects_[subscription];
  return announced_subscriptions_.find(known.process, known.handle) != nullptr;
}

bool ObjectTracker::announces_callback(ServiceIndex service) const {
  const Service& known = objects_[service];
  return announced_services_.find(known.process, known.handle) != nullptr;
}

void ObjectTracker::adopt(ProcessIndex process, Handle callback, ObservedCallbackIndex owner) {
  CallbackHandle& entry = callback_handles_.at(process, callback);
  // A run that had begun before the first event tells of a callback, but not of its owner.
  const bool has_no_owner =
      !entry.callback || objects_[*entry.callback].kind == CallbackKind::unknown;
  if (entry.owner == CallbackHandle::Owner::none && has_no_owner) {
    entry.callback = settle(owner, entry.symbol);
    name(*entry.callback, callback, entry.symbol);
  }
}

void ObjectTracker::adopt_copy(ProcessIndex process, Handle callback, ServiceIndex service) {
  CallbackHandle& entry = callback_handles_.at(process, callback);
  if (entry.owner == CallbackHandle::Owner::service && !entry.callback &&
      !resolve(process, entry)) {
    entry.callback = settle(objects_[service].callback, entry.symbol);
    name(*entry.callback, callback, entry.symbol);
  }
}

std::optional<ObservedCallbackIndex> ObjectTracker::executed(ProcessIndex process,
                                                             Handle handle) const {
  if (const auto* timer = timers_.find(process, handle)) return objects_[*timer].callback;
  if (const auto* subscription = subscriptions_.find(process, handle)) {
    return objects_[*subscription].callback;
  }
  if (const auto* service = services_.find(process, handle)) return objects_[*service].callback;
  return std::nullopt;
}

ObservedCallbackIndex ObjectTracker::callback(ProcessIndex process, Handle handle) {
  CallbackHandle& entry = callback_handles_.at(process, handle);
  if (!entry.callback) {
    entry.callback = resolve(process, entry);
    if (!entry.callback) {
      entry.callback = add_callback({.process = process});
    }
    entry.callback = settle(*entry.callback, entry.symbol);
    name(*entry.callback, handle, entry.symbol);
  }
  return *entry.callback;
}

std::optional<ObservedCallbackIndex> ObjectTracker::described_callback(ProcessIndex process,
                                                                       Handle handle) {
  const CallbackHandle* const entry = callback_handles_.find(process, handle);
  if (entry == nullptr || (!entry->callback && !resolve(process, *entry))) return std::nullopt;
  return callback(process, handle);
}

std::optional<PublisherIndex> ObjectTracker::publisher(ProcessIndex process, Handle handle) const {
  return value_of(publishers_.find(process, handle));
}

std::optional<PublisherIndex> ObjectTracker::rmw_publisher(ProcessIndex process,
                                                           Handle rmw_handle) const {
  const auto* endpoint = rmw_publishers_.find(process, rmw_handle);
  return endpoint == nullptr ? std::nullopt : endpoint->object;
}

bool ObjectTracker::is_internal_publisher(ProcessIndex process, Handle rmw_handle) const {
  const auto* endpoint = rmw_publishers_.find(process, rmw_handle);
  return endpoint != nullptr && !endpoint->object;
}

std::optional<SubscriptionIndex> ObjectTracker::rmw_subscription(ProcessIndex process,
                                                                 Handle rmw_handle) const {
  const auto* endpoint = rmw_subscriptions_.find(process, rmw_handle);
  return endpoint == nullptr ? std::nullopt : endpoint->object;
}

bool ObjectTracker::is_internal_subscription(ProcessIndex process, Handle rmw_handle) const {
  const auto* endpoint = rmw_subscriptions_.find(process, rmw_handle);
  return endpoint != nullptr && !endpoint->object;
}

std::optional<Handle> ObjectTracker::buffer_object(ProcessIndex process, Handle buffer) const {
  const Handle* const ipb = buffer_owners_.find(process, buffer);
  const Handle* const object = ipb ? buffer_readers_.find(process, *ipb) : nullptr;
  return object && *object != 0 ? std::optional(*object) : std::nullopt;
}

std::optional<SubscriptionIndex> ObjectTracker::buffer_reader(ProcessIndex process,
                                                              Handle buffer) const {
  const auto object = buffer_object(process, buffer);
  const Handle* const handle = object ? subscription_objects_.find(process, *object) : nullptr;
  return handle ? value_of(subscriptions_.find(process, *handle)) : std::nullopt;
}

std::optional<ServiceIndex> ObjectTracker::rmw_service(ProcessIndex process,
                                                       Handle rmw_handle) const {
  return value_of(rmw_services_.find(process, rmw_handle));
}

std::optional<ClientIndex> ObjectTracker::rmw_client(ProcessIndex process,
                                                     Handle rmw_handle) const {
  const auto* endpoint = rmw_clients_.find(process, rmw_handle);
  return endpoint == nullptr ? std::nullopt : endpoint->object;
}

template <typename Index>
void ObjectTracker::identify(Endpoint<Index>& endpoint, const Gid& gid) {
  endpoint.gid = gid;
  if (!endpoint.object) {
    return;
  }
  auto& object = objects_[*endpoint.object];
  if (object.gid == Gid{}) {
    object.gid = gid;
  } else {
    endpoint.object.reset();  // it was destroyed, and its address is used again
  }
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclInit& context) {
  grow_to(objects_.tracetools_versions, at.process) = context.version;
  ++grow_to(objects_.contexts, at.process);
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::UnrecordedProcess& found) {
  objects_.unrecorded.push_back({at.process, std::string(found.why)});
}

void ObjectTracker::on(const Occurrence& /*at*/, const tracepoints::Selection& pattern) {
  auto& patterns =
      pattern.rule == "include" ? objects_.selection.include : objects_.selection.exclude;
  if (std::ranges::find(patterns, pattern.pattern) == patterns.end()) {  // of several hosts
    patterns.emplace_back(pattern.pattern);
  }
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::ClientLibrary& library) {
  if (library.name == "rclpy") note(at.process, ClientLibrary::rclpy);
}

void ObjectTracker::note(ProcessIndex process, ClientLibrary library) {
  ClientLibrary& known = grow_to(objects_.client_libraries, process);
  known = known == ClientLibrary::unknown || known == library ? library : ClientLibrary::several;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclNodeInit& node) {
  const NodeIndex index(objects_.nodes.size());
  nodes_.at(at.process, node.node_handle) = index;
  if (auto* const unplaced = unplaced_.find(at.process, node.node_handle)) {
    for (const NodeOf& node_of : *unplaced) {
      node_of(objects_) = index;
    }
    *unplaced = {};
  }
  objects_.nodes.push_back({.process = at.process,
                            .handle = node.node_handle,
                            .name = std::string(node.node_name),
                            .name_space = std::string(node.name_space),
                            .since = at.time});
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RmwPublisherInit& publisher) {
  identify(rmw_publishers_.at(at.process, publisher.rmw_publisher_handle), publisher.gid);
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclPublisherInit& publisher) {
  auto& endpoint = rmw_publishers_.at(at.process, publisher.rmw_publisher_handle);
  const PublisherIndex index(objects_.publishers.size());
  objects_.publishers.push_back({.process = at.process,
                                 .handle = publisher.publisher_handle,
                                 .rmw_handle = publisher.rmw_publisher_handle,
                                 .topic = topic(publisher.topic_name),
                                 .queue_depth = static_cast<std::int64_t>(publisher.queue_depth),
                                 .gid = endpoint.gid,
                                 .since = at.time});
  place(index, at.process, publisher.node_handle);
  endpoint.object = index;
  publishers_.at(at.process, publisher.publisher_handle) = index;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RmwSubscriptionInit& subscription) {
  identify(rmw_subscriptions_.at(at.process, subscription.rmw_subscription_handle),
           subscription.gid);
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclSubscriptionInit& subscription) {
  auto& endpoint = rmw_subscriptions_.at(at.process, subscription.rmw_subscription_handle);
  const SubscriptionIndex index(objects_.subscriptions.size());
  objects_.subscriptions.push_back(
      {.process = at.process,
       .handle = subscription.subscription_handle,
       .rmw_handle = subscription.rmw_subscription_handle,
       .topic = topic(subscription.topic_name),
       .queue_depth = static_cast<std::int64_t>(subscription.queue_depth),
       .gid = endpoint.gid,
       .callback = {},
       .since = at.time});
  objects_[index].callback = add_callback(
      at, subscription.subscription_handle,
      {.kind = CallbackKind::subscription, .process = at.process, .subscription = index});
  place(index, at.process, subscription.node_handle);
  endpoint.object = index;
  subscriptions_.at(at.process, subscription.subscription_handle) = index;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclcppSubscriptionInit& object) {
  subscription_objects_.at(at.process, object.subscription) = object.subscription_handle;
  announced_subscriptions_.at(at.process, object.subscription_handle) = true;
  const auto* const known = subscriptions_.find(at.process, object.subscription_handle);
  if (known != nullptr && buffered_objects_.find(at.process, object.subscription) != nullptr) {
    objects_[*known].has_buffer = true;
  }
}

void ObjectTracker::on(const Occurrence& at,
                       const tracepoints::RclcppSubscriptionCallbackAdded& added) {
  own(at.process, added.callback, CallbackHandle::Owner::subscription, added.subscription);
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclServiceInit& service) {
  const ServiceIndex index(objects_.services.size());
  objects_.services.push_back({.process = at.process,
                               .handle = service.service_handle,
                               .rmw_handle = service.rmw_service_handle,
                               .name = topic(service.service_name),
                               .callback = {},
                               .since = at.time});
  objects_[index].callback =
      add_callback(at, service.service_handle,
                   {.kind = CallbackKind::service, .process = at.process, .service = index});
  place(index, at.process, service.node_handle);
  services_.at(at.process, service.service_handle) = index;
  rmw_services_.at(at.process, service.rmw_service_handle) = index;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclcppServiceCallbackAdded& added) {
  own(at.process, added.callback, CallbackHandle::Owner::service, added.service_handle);
  announced_services_.at(at.process, added.service_handle) = true;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RmwClientInit& client) {
  identify(rmw_clients_.at(at.process, client.rmw_client_handle), client.gid);
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclClientInit& client) {
  auto& endpoint = rmw_clients_.at(at.process, client.rmw_client_handle);
  const ClientIndex index(objects_.clients.size());
  objects_.clients.push_back({.process = at.process,
                              .handle = client.client_handle,
                              .rmw_handle = client.rmw_client_handle,
                              .name = topic(client.service_name),
                              .gid = endpoint.gid,
                              .callback = {},
                              .since = at.time});
  objects_[index].callback =
      add_callback(at, client.client_handle,
                   {.kind = CallbackKind::client, .process = at.process, .client = index});
  place(index, at.process, client.node_handle);
  endpoint.object = index;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclTimerInit& timer) {
  const TimerIndex index(objects_.timers.size());
  objects_.timers.push_back({.process = at.process,
                             .handle = timer.timer_handle,
                             .period = bounded(Duration(timer.period)),
                             .callback = {},
                             .since = at.time});
  objects_[index].callback = add_callback(
      at, timer.timer_handle, {.kind = CallbackKind::timer, .process = at.process, .timer = index});
  timers_.at(at.process, timer.timer_handle) = index;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclcppTimerCallbackAdded& added) {
  own(at.process, added.callback, CallbackHandle::Owner::timer, added.timer_handle);
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclcppTimerLinkNode& link) {
  if (const auto* timer = timers_.find(at.process, link.timer_handle)) {
    place(*timer, at.process, link.node_handle);
  }
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclcppCallbackRegister& callback) {
  callback_handles_.at(at.process, callback.callback).symbol = callback.symbol;
}

void ObjectTracker::on(const Occurrence& at,
                       const tracepoints::RclLifecycleStateMachineInit& machine) {
  lifecycle_machines_.at(at.process, machine.state_machine) = objects_.lifecycle_machines.size();
  objects_.lifecycle_machines.push_back({.process = at.process,
                                         .handle = machine.state_machine,
                                         .node = node(at.process, machine.node_handle)});
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclLifecycleTransition& change) {
  const bool is_under_way = change.goal_label.ends_with("ing");  // "configuring" …
  identities_.note_step(at.thread, is_under_way ? std::string(change.goal_label) : "");
  if (const auto* known = lifecycle_machines_.find(at.process, change.state_machine)) {
    LifecycleMachine& machine = objects_.lifecycle_machines[*known];
    machine.state = change.goal_label;
    ++machine.transitions;
  }
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclcppBufferToIpb& buffer) {
  buffer_owners_.at(at.process, buffer.buffer) = buffer.ipb;
  buffer_readers_.at(at.process, buffer.ipb) = 0;  // its address may be that of one that is gone
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::RclcppIpbToSubscription& reader) {
  buffer_readers_.at(at.process, reader.ipb) = reader.subscription;
  buffered_objects_.at(at.process, reader.subscription) = true;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::MessageLinkPeriodicAsync& link) {
  add_link(MessageLink::Kind::periodic_async, at.process, link.subs, link.pubs);
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::MessageLinkPartialSync& link) {
  add_link(MessageLink::Kind::partial_sync, at.process, link.subs, link.pubs);
}

std::optional<ObservedCallbackIndex> ObjectTracker::known_callback(const Occurrence& at,
                                                                   Handle handle) {
  CallbackHandle* const entry = callback_handles_.find(at.process, handle);
  const auto known = entry == nullptr  ? std::nullopt
                     : entry->callback ? entry->callback
                                       : resolve(at.process, *entry);
  anomalies_.unknown_link_ends += known ? 0u : 1u;
  return known ? std::optional(settle(*known, entry->symbol)) : std::nullopt;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::InputsLinked& link) {
  InputLink linked{.process = at.process, .inputs = {}, .reader = {}};
  if (link.how == "and") {
    linked.kind = InputLink::Kind::and_;
  } else if (link.how == "newest") {
    linked.kind = InputLink::Kind::newest;
  } else if (link.how == "sampled") {
    linked.kind = InputLink::Kind::sampled;
    linked.reader = known_callback(at, link.reader);
    if (!linked.reader) return;
  } else {
    ++anomalies_.unknown_link_ends;
    return;
  }
  for (const Handle handle : link.callbacks) {
    const auto input = known_callback(at, handle);
    if (!input) return;
    linked.inputs.push_back(*input);
  }
  objects_.input_links.push_back(std::move(linked));
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::LinksDeclared& declared) {
  grow_to(objects_.declared_links, at.process) = declared.links;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::ExecutorInit& executor) {
  objects_.executor_threads.push_back(
      {.thread = at.thread,
       .executor = std::string(executor.executor),
       .kind = std::string(executor.kind),
       .timers = std::string(executor.timers),
       .threads = executor.threads,
       .policy = std::string(executor.policy),
       .runtime = bounded(Duration(executor.runtime)),
       .deadline = bounded(Duration(executor.deadline)),
       .period = bounded(Duration(executor.period)),
       .priority = executor.priority,
       .cpu = std::clamp<std::int64_t>(executor.cpu, -1, events::largest_processor)});
}

ObservedCallbackIndex ObjectTracker::add_event_source(EventSource source) {
  const EventSourceIndex index(objects_.event_sources.size());
  source.callback = add_callback(
      {.kind = CallbackKind::event_source, .process = source.process, .event_source = index});
  objects_.event_sources.push_back(source);
  return source.callback;
}

const EventSource& ObjectTracker::place(ObservedCallbackIndex source, NodeIndex node) {
  EventSource& placed = objects_[*objects_[source].event_source];
  placed.node = node;
  return placed;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::CallbackInit& callback) {
  ObservedCallbackIndex made;
  if (callback.kind == "waitable") {
    const WaitableIndex index(objects_.waitables.size());
    made = add_callback({.kind = CallbackKind::waitable, .process = at.process, .waitable = index});
    objects_.waitables.push_back(
        {.process = at.process, .callback = made, .triggers = TopicIndex(objects_.topics.size())});
    objects_.topics.emplace_back();
    place(index, at.process, callback.node_handle);
  } else if (callback.kind == "event_source") {
    made = add_event_source({.process = at.process,
                             .callback = {},
                             .period = std::max(bounded(Duration(callback.period)), Duration{0})});
    place(*objects_[made].event_source, at.process, callback.node_handle);
  } else {
    return;  // a kind of a newer version; its instances are counted as unknown
  }
  own(at.process, callback.callback, CallbackHandle::Owner::itself, 0);
  callback_handles_.at(at.process, callback.callback).callback = made;
}

void ObjectTracker::on(const Occurrence& at, const tracepoints::ObjectsRecovered& recovered) {
  grow_to(recovered_, at.process) = 1;
  objects_.recoveries.push_back({at.process, recovered.objects, std::string(recovered.unknown)});
}

void ObjectTracker::add_link(MessageLink::Kind kind, ProcessIndex process,
                             std::span<const Handle> subscriptions,
                             std::span<const Handle> publishers) {
  MessageLink link{kind, process, {}, {}};
  const auto add = [&](const auto& known, std::span<const Handle> handles, auto& ends) {
    for (const Handle handle : handles) {
      if (const auto* end = known.find(process, handle)) {
        ends.push_back(*end);
      } else {
        ++anomalies_.unknown_link_ends;
      }
    }
  };
  add(subscriptions_, subscriptions, link.inputs);
  add(publishers_, publishers, link.outputs);
  objects_.message_links.push_back(std::move(link));
}

void ObjectTracker::finish() {
  callback_handles_.for_each([this](ProcessIndex process, Handle handle, CallbackHandle& entry) {
    if (!entry.callback) {
      entry.callback = resolve(process, entry);
    }
    if (entry.callback) {
      name(*entry.callback, handle, entry.symbol);
    }
  });
  // A callback that never ran is taken for the equal one of the process that followed, if that one
  // ran. All others are compared in the order in which they were made.
  for (std::size_t i = 0; i < objects_.callbacks.size(); ++i) {
    const ObservedCallbackIndex callback(i);
    if (identities_.is_settled(callback)) continue;
    if (const auto later = identities_.later(callback)) go_before(callback, *later);
  }
  for (std::size_t i = 0; i < objects_.callbacks.size(); ++i) {
    const std::string symbol = objects_.callbacks[i].symbol;
    if (!objects_.callbacks[i].continues) settle(ObservedCallbackIndex(i), symbol);
  }
}

}  // namespace takt::execution
