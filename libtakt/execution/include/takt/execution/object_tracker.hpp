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

#include "takt/events/fields.hpp"
#include "takt/execution/anomalies.hpp"
#include "takt/execution/handle_map.hpp"
#include "takt/execution/objects.hpp"
#include "takt/execution/occurrence.hpp"

namespace takt::execution {

/// Turns initialisation events into objects. Each layer of ROS 2 describes only its part of an
/// object, in no guaranteed order: parts wait under their handles until the others appear.
class ObjectTracker {
 public:
  ObjectTracker(Objects& objects, Anomalies& anomalies)
      : objects_(objects), anomalies_(anomalies) {}

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
  void on(const Occurrence& at, const tracepoints::ObjectsRecovered& recovered);
  /// Completes objects whose parts came in an unusual order.
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
  /// Gives the callback to the client whose response it handles, if no event has said what it is
  /// for.
  void adopt(ProcessIndex process, Handle callback, ClientIndex client);
  /// Adds an event source that no event has described, and makes its callback.
  ObservedCallbackIndex add_event_source(EventSource source);
  /// The callback that a run-time event names; one of unknown kind is made if no event described
  /// it.
  ObservedCallbackIndex callback(ProcessIndex process, Handle handle);

 private:
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
  std::optional<ObservedCallbackIndex> resolve(ProcessIndex process, const CallbackHandle& handle);
  /// The callback of a timer that runs this function: that of the timer before it, if it goes on.
  ObservedCallbackIndex continued(TimerIndex timer, const std::string& symbol);
  void own(ProcessIndex process, Handle callback, CallbackHandle::Owner owner, Handle owner_handle);
  void name(ObservedCallbackIndex callback, Handle handle, const std::string& symbol);
  /// The callback that an initialisation event names, if events before it said what it is for.
  std::optional<ObservedCallbackIndex> known_callback(ProcessIndex process, Handle handle);
  void add_link(MessageLink::Kind kind, ProcessIndex process, std::span<const Handle> subscriptions,
                std::span<const Handle> publishers);

  Objects& objects_;
  Anomalies& anomalies_;
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
  HandleMap<CallbackHandle> callback_handles_;
  /// By node: the objects that named it before an event described it.
  HandleMap<std::vector<NodeOf>> unplaced_;
};

}  // namespace takt::execution
