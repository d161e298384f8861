#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "handle_map.hpp"
#include "takt/events/event.hpp"
#include "takt/execution/anomalies.hpp"
#include "takt/execution/objects.hpp"

namespace takt::execution {

/// Turns initialisation events into objects. Each layer of ROS 2 tells only its part of an object,
/// in no guaranteed order: parts wait under their handles until the others appear.
class ObjectTracker {
 public:
  ObjectTracker(const events::Threads& threads, Anomalies& anomalies)
      : threads_(threads), anomalies_(anomalies) {}

  void consume(const events::Event& event, const events::Batch& batch);
  /// Completes objects whose parts came in an unusual order.
  void finish();

  [[nodiscard]] const Objects& objects() const { return objects_; }

  [[nodiscard]] std::optional<PublisherIndex> publisher(ProcessIndex process,
                                                        std::uint64_t handle) const;
  [[nodiscard]] std::optional<PublisherIndex> rmw_publisher(ProcessIndex process,
                                                            std::uint64_t rmw_handle) const;
  /// Middleware handles of publishers that ROS does not know of (discovery) are known, too.
  [[nodiscard]] bool is_internal_publisher(ProcessIndex process, std::uint64_t rmw_handle) const;
  [[nodiscard]] std::optional<SubscriptionIndex> rmw_subscription(ProcessIndex process,
                                                                  std::uint64_t rmw_handle) const;
  [[nodiscard]] bool is_internal_subscription(ProcessIndex process, std::uint64_t rmw_handle) const;
  /// The subscription that reads a ring buffer.
  [[nodiscard]] std::optional<SubscriptionIndex> buffer_reader(ProcessIndex process,
                                                               std::uint64_t buffer) const;
  [[nodiscard]] std::optional<ServiceIndex> rmw_service(ProcessIndex process,
                                                        std::uint64_t rmw_handle) const;
  [[nodiscard]] std::optional<ClientIndex> rmw_client(ProcessIndex process,
                                                      std::uint64_t rmw_handle) const;
  /// The callback that a run-time event names; one of unknown kind is made if no event told of it.
  CallbackIndex callback(ProcessIndex process, std::uint64_t handle);

 private:
  /// What rmw says of an endpoint, and the rcl object on top of it.
  template <typename Object>
  struct Endpoint {
    Gid gid{};
    std::optional<Object> object;
  };
  struct CallbackHandle {
    enum class Owner { none, timer, subscription, service };
    Owner owner = Owner::none;
    std::uint64_t owner_handle = 0;  // of a subscription: of the rclcpp object
    std::string symbol;
    std::optional<CallbackIndex> callback;
  };
  /// An object that named its node before the node told of itself.
  struct Unplaced {
    ProcessIndex process;
    std::uint64_t node_handle;
    std::optional<NodeIndex>& (*node)(Objects&, std::size_t);
    std::size_t position;
  };

  TopicIndex topic(const std::string& name);
  std::optional<NodeIndex> node(ProcessIndex process, std::uint64_t handle) const;
  /// Gives an object of a list its node, now or when the node becomes known.
  template <auto list>
  void place(ProcessIndex process, std::size_t position, std::uint64_t node_handle);
  /// Adds to a list an object that belongs to a node.
  template <auto list, typename Object>
  std::size_t add(Object object, std::uint64_t node_handle);
  CallbackIndex add_callback(Callback callback);
  std::optional<CallbackIndex> resolve(ProcessIndex process, const CallbackHandle& handle) const;
  void own(ProcessIndex process, std::uint64_t callback, CallbackHandle::Owner owner,
           std::uint64_t owner_handle);
  void name(CallbackIndex callback, std::uint64_t handle, const std::string& symbol);
  void add_link(MessageLink::Kind kind, ProcessIndex process, const events::Payload& payload);

  const events::Threads& threads_;
  Anomalies& anomalies_;
  Objects objects_;
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
  /// rclcpp's subscription object → rcl's subscription.
  HandleMap<std::uint64_t> subscription_objects_;
  /// Ring buffer → intra-process buffer → rclcpp's subscription object.
  HandleMap<std::uint64_t> buffer_owners_;
  HandleMap<std::uint64_t> buffer_readers_;
  HandleMap<CallbackHandle> callback_handles_;
  std::vector<Unplaced> unplaced_;
};

}  // namespace takt::execution
