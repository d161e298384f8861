#include "object_tracker.hpp"

#include <utility>

namespace takt::execution {
namespace {

template <typename Index>
std::optional<Index> value_of(const Index* found) {
  return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace

TopicIndex ObjectTracker::topic(const std::string& name) {
  const auto [entry, is_new] = topic_of_.try_emplace(name, TopicIndex(objects_.topics.size()));
  if (is_new) {
    objects_.topics.push_back(name);
  }
  return entry->second;
}

std::optional<NodeIndex> ObjectTracker::node(ProcessIndex process, std::uint64_t handle) const {
  return value_of(nodes_.find(process, handle));
}

template <auto list>
void ObjectTracker::place(ProcessIndex process, std::size_t position, std::uint64_t node_handle) {
  auto& owned = (objects_.*list)[position].node;
  owned = node(process, node_handle);
  if (!owned) {
    unplaced_.push_back({process, node_handle,
                         [](Objects& all, std::size_t i) -> std::optional<NodeIndex>& {
                           return (all.*list)[i].node;
                         },
                         position});
  }
}

template <auto list, typename Object>
std::size_t ObjectTracker::add(Object object, std::uint64_t node_handle) {
  auto& objects = objects_.*list;
  const ProcessIndex process = object.process;
  objects.push_back(std::move(object));
  place<list>(process, objects.size() - 1, node_handle);
  return objects.size() - 1;
}

CallbackIndex ObjectTracker::add_callback(Callback callback) {
  objects_.callbacks.push_back(std::move(callback));
  return CallbackIndex(objects_.callbacks.size() - 1);
}

void ObjectTracker::own(ProcessIndex process, std::uint64_t callback, CallbackHandle::Owner owner,
                        std::uint64_t owner_handle) {
  CallbackHandle& entry = callback_handles_.at(process, callback);
  if (entry.owner != CallbackHandle::Owner::none) {
    entry = {};  // the address is re-used
  }
  entry.owner = owner;
  entry.owner_handle = owner_handle;
}

std::optional<CallbackIndex> ObjectTracker::resolve(ProcessIndex process,
                                                    const CallbackHandle& handle) const {
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
    case CallbackHandle::Owner::none:
      break;
  }
  return std::nullopt;
}

void ObjectTracker::name(CallbackIndex index, std::uint64_t handle, const std::string& symbol) {
  Callback& callback = objects_.callbacks[index.value()];
  if (callback.handle == 0) {
    callback.handle = handle;
  }
  if (callback.symbol.empty()) {
    callback.symbol = symbol;
  }
}

CallbackIndex ObjectTracker::callback(ProcessIndex process, std::uint64_t handle) {
  CallbackHandle& entry = callback_handles_.at(process, handle);
  if (!entry.callback) {
    entry.callback = resolve(process, entry);
    if (!entry.callback) {
      entry.callback = add_callback({.process = process});
    }
    name(*entry.callback, handle, entry.symbol);
  }
  return *entry.callback;
}

std::optional<PublisherIndex> ObjectTracker::publisher(ProcessIndex process,
                                                       std::uint64_t handle) const {
  return value_of(publishers_.find(process, handle));
}

std::optional<PublisherIndex> ObjectTracker::rmw_publisher(ProcessIndex process,
                                                           std::uint64_t rmw_handle) const {
  const auto* endpoint = rmw_publishers_.find(process, rmw_handle);
  return endpoint == nullptr ? std::nullopt : endpoint->object;
}

bool ObjectTracker::is_internal_publisher(ProcessIndex process, std::uint64_t rmw_handle) const {
  const auto* endpoint = rmw_publishers_.find(process, rmw_handle);
  return endpoint != nullptr && !endpoint->object;
}

std::optional<SubscriptionIndex> ObjectTracker::rmw_subscription(ProcessIndex process,
                                                                 std::uint64_t rmw_handle) const {
  const auto* endpoint = rmw_subscriptions_.find(process, rmw_handle);
  return endpoint == nullptr ? std::nullopt : endpoint->object;
}

bool ObjectTracker::is_internal_subscription(ProcessIndex process, std::uint64_t rmw_handle) const {
  const auto* endpoint = rmw_subscriptions_.find(process, rmw_handle);
  return endpoint != nullptr && !endpoint->object;
}

std::optional<SubscriptionIndex> ObjectTracker::buffer_reader(ProcessIndex process,
                                                              std::uint64_t buffer) const {
  const std::uint64_t* const ipb = buffer_owners_.find(process, buffer);
  const std::uint64_t* const object = ipb ? buffer_readers_.find(process, *ipb) : nullptr;
  const std::uint64_t* const handle =
      object ? subscription_objects_.find(process, *object) : nullptr;
  return handle ? value_of(subscriptions_.find(process, *handle)) : std::nullopt;
}

std::optional<ServiceIndex> ObjectTracker::rmw_service(ProcessIndex process,
                                                       std::uint64_t rmw_handle) const {
  return value_of(rmw_services_.find(process, rmw_handle));
}

std::optional<ClientIndex> ObjectTracker::rmw_client(ProcessIndex process,
                                                     std::uint64_t rmw_handle) const {
  const auto* endpoint = rmw_clients_.find(process, rmw_handle);
  return endpoint == nullptr ? std::nullopt : endpoint->object;
}

void ObjectTracker::consume(const events::Event& event, const events::Batch& batch) {
  using enum events::EventType;
  static const events::Payload empty;
  const ProcessIndex process = threads_[event.thread].process;
  const auto& value = event.values;
  if (event.type != rcl_lifecycle_transition) {
    objects_.initialised = event.time;
  }
  const events::Payload& payload =
      event.payload == events::no_payload ? empty : batch.payload(event);

  switch (event.type) {
    case rcl_init:
      if (objects_.tracetools_versions.size() <= process.value()) {
        objects_.tracetools_versions.resize(process.value() + 1);
      }
      objects_.tracetools_versions[process.value()] = payload.texts[0];
      break;
    case rcl_node_init:
      objects_.nodes.push_back({process, value[0], payload.texts[0], payload.texts[1], event.time});
      nodes_.at(process, value[0]) = NodeIndex(objects_.nodes.size() - 1);
      break;
    case rmw_publisher_init: {
      auto& endpoint = rmw_publishers_.at(process, value[0]);
      endpoint.gid = {value[1], value[2]};
      if (endpoint.object) {
        Publisher& publisher = objects_.publishers[endpoint.object->value()];
        if (publisher.gid == Gid{}) {
          publisher.gid = endpoint.gid;
        } else {
          endpoint.object.reset();  // the address is re-used
        }
      }
      break;
    }
    case rcl_publisher_init: {
      auto& endpoint = rmw_publishers_.at(process, value[2]);
      const PublisherIndex index(add<&Objects::publishers>(
          Publisher{process, value[0], value[2], std::nullopt, topic(payload.texts[0]),
                    static_cast<std::int64_t>(value[3]), endpoint.gid, event.time},
          value[1]));
      endpoint.object = index;
      publishers_.at(process, value[0]) = index;
      break;
    }
    case rmw_subscription_init: {
      auto& endpoint = rmw_subscriptions_.at(process, value[0]);
      endpoint.gid = {value[1], value[2]};
      if (endpoint.object) {
        Subscription& subscription = objects_.subscriptions[endpoint.object->value()];
        if (subscription.gid == Gid{}) {
          subscription.gid = endpoint.gid;
        } else {
          endpoint.object.reset();
        }
      }
      break;
    }
    case rcl_subscription_init: {
      auto& endpoint = rmw_subscriptions_.at(process, value[2]);
      const SubscriptionIndex index(objects_.subscriptions.size());
      const CallbackIndex made = add_callback(
          {.kind = CallbackKind::subscription, .process = process, .subscription = index});
      add<&Objects::subscriptions>(
          Subscription{process, value[0], value[2], std::nullopt, topic(payload.texts[0]),
                       static_cast<std::int64_t>(value[3]), endpoint.gid, made, event.time},
          value[1]);
      endpoint.object = index;
      subscriptions_.at(process, value[0]) = index;
      break;
    }
    case rclcpp_subscription_init:
      subscription_objects_.at(process, value[1]) = value[0];
      break;
    case rclcpp_subscription_callback_added:
      own(process, value[1], CallbackHandle::Owner::subscription, value[0]);
      break;
    case rcl_service_init: {
      const ServiceIndex index(objects_.services.size());
      const CallbackIndex made =
          add_callback({.kind = CallbackKind::service, .process = process, .service = index});
      add<&Objects::services>(Service{process, value[0], value[2], std::nullopt,
                                      topic(payload.texts[0]), made, event.time},
                              value[1]);
      services_.at(process, value[0]) = index;
      rmw_services_.at(process, value[2]) = index;
      break;
    }
    case rclcpp_service_callback_added:
      own(process, value[1], CallbackHandle::Owner::service, value[0]);
      break;
    case rmw_client_init: {
      auto& endpoint = rmw_clients_.at(process, value[0]);
      endpoint.gid = {value[1], value[2]};
      if (endpoint.object) {
        Client& client = objects_.clients[endpoint.object->value()];
        if (client.gid == Gid{}) {
          client.gid = endpoint.gid;
        } else {
          endpoint.object.reset();
        }
      }
      break;
    }
    case rcl_client_init: {
      auto& endpoint = rmw_clients_.at(process, value[2]);
      endpoint.object = ClientIndex(
          add<&Objects::clients>(Client{process, value[0], value[2], std::nullopt,
                                        topic(payload.texts[0]), endpoint.gid, event.time},
                                 value[1]));
      break;
    }
    case rcl_timer_init: {
      const TimerIndex index(objects_.timers.size());
      const CallbackIndex made =
          add_callback({.kind = CallbackKind::timer, .process = process, .timer = index});
      objects_.timers.push_back({process, value[0], Duration(static_cast<std::int64_t>(value[1])),
                                 std::nullopt, made, event.time});
      timers_.at(process, value[0]) = index;
      break;
    }
    case rclcpp_timer_callback_added:
      own(process, value[1], CallbackHandle::Owner::timer, value[0]);
      break;
    case rclcpp_timer_link_node:
      if (const auto* timer = timers_.find(process, value[0])) {
        place<&Objects::timers>(process, timer->value(), value[1]);
      }
      break;
    case rclcpp_callback_register:
      callback_handles_.at(process, value[0]).symbol = payload.texts[0];
      break;
    case rcl_lifecycle_state_machine_init:
      lifecycle_machines_.at(process, value[1]) = objects_.lifecycle_machines.size();
      objects_.lifecycle_machines.push_back({process, value[1], node(process, value[0]), {}, 0});
      break;
    case rcl_lifecycle_transition:
      if (const auto* machine = lifecycle_machines_.find(process, value[0])) {
        objects_.lifecycle_machines[*machine].state = payload.texts[1];
        ++objects_.lifecycle_machines[*machine].transitions;
      }
      break;
    case rclcpp_buffer_to_ipb:
      buffer_owners_.at(process, value[0]) = value[1];
      break;
    case rclcpp_ipb_to_subscription:
      buffer_readers_.at(process, value[0]) = value[1];
      break;
    case message_link_periodic_async:
      add_link(MessageLink::Kind::periodic_async, process, payload);
      break;
    case message_link_partial_sync:
      add_link(MessageLink::Kind::partial_sync, process, payload);
      break;
    case executor_init: {
      const auto duration = [&value](std::size_t i) {
        return Duration(static_cast<std::int64_t>(value[i]));
      };
      objects_.executor_threads.push_back(
          {event.thread, payload.texts[0], payload.texts[1], payload.texts[2],
           static_cast<std::int64_t>(value[0]), payload.texts[3], duration(1), duration(2),
           duration(3), static_cast<std::int64_t>(value[4]), static_cast<std::int64_t>(value[5])});
      break;
    }
    case objects_recovered:
      objects_.recoveries.push_back({process, value[0], payload.texts[0]});
      break;
    default:
      break;
  }
}

void ObjectTracker::add_link(MessageLink::Kind kind, ProcessIndex process,
                             const events::Payload& payload) {
  MessageLink link{kind, process, {}, {}};
  for (const std::uint64_t handle : payload.lists[0]) {
    if (const auto* subscription = subscriptions_.find(process, handle)) {
      link.inputs.push_back(*subscription);
    } else {
      ++anomalies_.unknown_link_ends;
    }
  }
  for (const std::uint64_t handle : payload.lists[1]) {
    if (const auto* publisher = publishers_.find(process, handle)) {
      link.outputs.push_back(*publisher);
    } else {
      ++anomalies_.unknown_link_ends;
    }
  }
  objects_.message_links.push_back(std::move(link));
}

void ObjectTracker::finish() {
  for (const Unplaced& object : unplaced_) {
    object.node(objects_, object.position) = node(object.process, object.node_handle);
  }
  unplaced_.clear();
  callback_handles_.for_each(
      [this](ProcessIndex process, std::uint64_t handle, CallbackHandle& entry) {
        if (!entry.callback) {
          entry.callback = resolve(process, entry);
        }
        if (entry.callback) {
          name(*entry.callback, handle, entry.symbol);
        }
      });
}

}  // namespace takt::execution
