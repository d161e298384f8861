#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "takt/base/grow.hpp"
#include "takt/events/fields.hpp"
#include "takt/execution/anomalies.hpp"
#include "takt/execution/handle_map.hpp"
#include "takt/execution/identities.hpp"
#include "takt/execution/objects.hpp"
#include "takt/execution/occurrence.hpp"

namespace takt::execution {

/// Turns initialisation events into objects. Each layer of ROS 2 describes only its part of an
/// object, in no guaranteed order: parts wait under their handles until the others appear.
class ObjectTracker {
 public:
  ObjectTracker(Objects& objects, const events::Threads& threads, Anomalies& anomalies)
      : objects_(objects), anomalies_(anomalies), identities_(objects, threads) {}

  /// Objects are made by this instance from now on; null: by none.
  void note_maker(const CallbackInstance* instance) { identities_.note_maker(instance); }

  /// One handler for each event that describes an object; the others change nothing.
  void on(const Occurrence& at, const tracepoints::RclInit& context);
  void on(const Occurrence& at, const tracepoints::RclNodeInit& node);
  void on(const Occurrence& at, const tracepoints::RmwPublisherInit& publisher);
  void on(const Occurrence& at, const tracepoints::RclPublisherInit& publisher);
  void on(const Occurrence& at, const tracepoints::RmwSubscriptionInit& subscription);
  void on(const Occurrence& at, const tracepoints::RclSubscriptionInit& subscription);
  void on(const Occurrence& at, const tracepoints::RclcppSubscriptionInit& object);
  void on(const Occurrence& at, const tracepoints::RclcppSubscriptionCallbackAdded& added);
  void on(const Occurrence& at, const tracepoints::RclServiceInit& service);
  void on(const Occurrence& at, const tracepoints::RclcppServiceCallbackAdded& added);
  void on(const Occurrence& at, const tracepoints::RmwClientInit& client);
  void on(const Occurrence& at, const tracepoints::RclClientInit& client);
  void on(const Occurrence& at, const tracepoints::RclTimerInit& timer);
  void on(const Occurrence& at, const tracepoints::RclcppTimerCallbackAdded& added);
  void on(const Occurrence& at, const tracepoints::RclcppTimerLinkNode& link);
  void on(const Occurrence& at, const tracepoints::RclcppCallbackRegister& callback);
  void on(const Occurrence& at, const tracepoints::RclLifecycleStateMachineInit& machine);
  void on(const Occurrence& at, const tracepoints::RclLifecycleTransition& change);
  void on(const Occurrence& at, const tracepoints::RclcppBufferToIpb& buffer);
  void on(const Occurrence& at, const tracepoints::RclcppIpbToSubscription& reader);
  void on(const Occurrence& at, const tracepoints::MessageLinkPeriodicAsync& link);
  void on(const Occurrence& at, const tracepoints::MessageLinkPartialSync& link);
  void on(const Occurrence& at, const tracepoints::InputsLinked& link);
  void on(const Occurrence& at, const tracepoints::LinksDeclared& declared);
  void on(const Occurrence& at, const tracepoints::ClientLibrary& library);
  /// The process was seen to use the library.
  void note(ProcessIndex process, ClientLibrary library);
  void on(const Occurrence& at, const tracepoints::ExecutorInit& executor);
  void on(const Occurrence& at, const tracepoints::CallbackInit& callback);
  void on(const Occurrence& at, const tracepoints::UnrecordedProcess& found);
  void on(const Occurrence& at, const tracepoints::Selection& pattern);
  void on(const Occurrence& at, const tracepoints::ObjectsRecovered& recovered);
  /// Completes objects whose parts came in an unusual order.
  /// `now`: the newest event of a process's host.
  void finish();

  [[nodiscard]] const Objects& objects() const { return objects_; }

  [[nodiscard]] std::optional<PublisherIndex> publisher(ProcessIndex process, Handle handle) const;
  [[nodiscard]] std::optional<PublisherIndex> rmw_publisher(ProcessIndex process,
                                                            Handle rmw_handle) const;
  /// Whether the handle belongs to a publisher of the middleware's own (discovery), of which ROS
  /// does not know.
  [[nodiscard]] bool is_internal_publisher(ProcessIndex process, Handle rmw_handle) const;
  [[nodiscard]] std::optional<SubscriptionIndex> rmw_subscription(ProcessIndex process,
                                                                  Handle rmw_handle) const;
  [[nodiscard]] bool is_internal_subscription(ProcessIndex process, Handle rmw_handle) const;
  /// Whether the handle is that of a ring buffer of a subscription.
  [[nodiscard]] bool is_ring_buffer(ProcessIndex process, Handle buffer) const {
    return buffer_owners_.find(process, buffer) != nullptr;
  }
  /// Whether a ring buffer is a subscription's, and not a publisher's own.
  [[nodiscard]] bool is_read(ProcessIndex process, Handle buffer) const {
    return buffer_object(process, buffer).has_value();
  }
  /// The subscription that reads a ring buffer.
  [[nodiscard]] std::optional<SubscriptionIndex> buffer_reader(ProcessIndex process,
                                                               Handle buffer) const;
  [[nodiscard]] std::optional<ServiceIndex> rmw_service(ProcessIndex process,
                                                        Handle rmw_handle) const;
  [[nodiscard]] std::optional<ClientIndex> rmw_client(ProcessIndex process,
                                                      Handle rmw_handle) const;
  /// Whether events name the callback of a subscription or service: rclcpp's and Takt's do, those
  /// within actions do not.
  [[nodiscard]] bool announces_callback(SubscriptionIndex subscription) const;
  [[nodiscard]] bool announces_callback(ServiceIndex service) const;
  /// Says that the callback is the one of a client, timer, subscription or service, if no event has
  /// said what it is for. Runs before that stay those of an unknown one.
  void adopt(ProcessIndex process, Handle callback, ObservedCallbackIndex owner);
  /// Says that the callback is the one of this service, if it is the one of a service whose handle
  /// is not known: rclcpp copies the services that rcl makes for nodes with a life cycle.
  void adopt_copy(ProcessIndex process, Handle callback, ServiceIndex service);
  /// The callback of the timer, subscription or service with this handle.
  [[nodiscard]] std::optional<ObservedCallbackIndex> executed(ProcessIndex process,
                                                              Handle handle) const;
  /// Whether objects of the process are older than the recording and were found in its memory.
  [[nodiscard]] bool is_recovered(ProcessIndex process) const {
    return value_at(recovered_, process) != 0;
  }
  /// Adds an event source that no event has described, and makes its callback.
  ObservedCallbackIndex add_event_source(EventSource source);
  /// Notes the node of such a source.
  const EventSource& place(ObservedCallbackIndex source, NodeIndex node);
  /// The callback that a run-time event names; one of unknown kind is made if no event described
  /// it.
  ObservedCallbackIndex callback(ProcessIndex process, Handle handle);
  /// The same, if an event before it described the callback or said that it runs.
  std::optional<ObservedCallbackIndex> described_callback(ProcessIndex process, Handle handle);
  /// The callback as which this one goes on, which runs now for the first time, or itself.
  ObservedCallbackIndex settle(ObservedCallbackIndex callback, const std::string& symbol);
  [[nodiscard]] Identities& identities() { return identities_; }
  /// The topic on which a timer that fires once is activated, made if new.
  TopicIndex triggers(ObservedCallbackIndex timer);

 private:
  /// What reads the buffer; none if that is a publisher's own.
  [[nodiscard]] std::optional<Handle> buffer_object(ProcessIndex process, Handle buffer) const;
  /// An endpoint of the middleware, and the rcl object that stands on it.
  template <typename Object>
  struct Endpoint {
    Gid gid{};
    std::optional<Object> object;
  };
  struct CallbackHandle {
    enum class Owner { none, timer, subscription, service, itself };
    Owner owner = Owner::none;
    Handle owner_handle = 0;  // for a subscription, that of rclcpp's object
    std::string symbol;
    std::optional<ObservedCallbackIndex> callback;
  };
  /// Where an object keeps its node.
  using NodeOf = std::function<std::optional<NodeIndex>&(Objects&)>;

  TopicIndex topic(std::string_view name);
  std::optional<NodeIndex> node(ProcessIndex process, Handle handle) const;
  /// Gives an object its node now, or as soon as an event describes the node.
  template <typename Index>
  void place(Index object, ProcessIndex process, Handle node_handle);
  /// Notes the gid of an endpoint that the middleware made. Its event usually comes before that of
  /// the rcl object that stands on it, but may come after.
  template <typename Index>
  void identify(Endpoint<Index>& endpoint, const Gid& gid);
  ObservedCallbackIndex add_callback(Callback callback);
  /// The same for an object at this address.
  ObservedCallbackIndex add_callback(const Occurrence& at, Handle handle, Callback callback);
  std::optional<ObservedCallbackIndex> resolve(ProcessIndex process, const CallbackHandle& handle);
  /// Gives the object of a callback to a former one, which goes on with it.
  void go_on(ObservedCallbackIndex former, ObservedCallbackIndex callback);
  /// All that belongs to a node belongs to a former one, which goes on in its place.
  void go_on(NodeIndex former, NodeIndex node);
  /// Gives the object of a callback that never ran to a later one, which went on with it.
  void go_before(ObservedCallbackIndex callback, ObservedCallbackIndex later);
  void hand_over(NodeIndex from, NodeIndex to);
  void own(ProcessIndex process, Handle callback, CallbackHandle::Owner owner, Handle owner_handle);
  void name(ObservedCallbackIndex callback, Handle handle, const std::string& symbol);
  /// The callback that an initialisation event names, if events before it said what it is for.
  std::optional<ObservedCallbackIndex> known_callback(const Occurrence& at, Handle handle);
  void add_link(MessageLink::Kind kind, ProcessIndex process, std::span<const Handle> subscriptions,
                std::span<const Handle> publishers);

  Objects& objects_;
  Anomalies& anomalies_;
  Identities identities_;
  std::unordered_map<std::string, TopicIndex> topic_of_;
  HandleMap<NodeIndex> nodes_;
  HandleMap<PublisherIndex> publishers_;
  HandleMap<Endpoint<PublisherIndex>> rmw_publishers_;
  HandleMap<SubscriptionIndex> subscriptions_;
  HandleMap<Endpoint<SubscriptionIndex>> rmw_subscriptions_;
  HandleMap<TimerIndex> timers_;
  HandleMap<ServiceIndex> services_;
  HandleMap<ServiceIndex> rmw_services_;
  HandleMap<Endpoint<ClientIndex>> rmw_clients_;
  HandleMap<std::size_t> lifecycle_machines_;
  /// rcl's subscriptions and services whose callbacks events name.
  HandleMap<bool> announced_subscriptions_;
  HandleMap<bool> announced_services_;
  /// rclcpp's subscription object → rcl's subscription.
  HandleMap<Handle> subscription_objects_;
  /// Ring buffer → intra-process buffer → rclcpp's subscription object.
  HandleMap<Handle> buffer_owners_;
  HandleMap<Handle> buffer_readers_;
  HandleMap<bool> buffered_objects_;
  HandleMap<CallbackHandle> callback_handles_;
  std::vector<char> recovered_;  // by process
  /// By node: the objects that named it before an event described it.
  HandleMap<std::vector<NodeOf>> unplaced_;
};

}  // namespace takt::execution
