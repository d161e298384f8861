#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/base/index.hpp"
#include "takt/events/threads.hpp"
#include "takt/time/time.hpp"

/// What a ROS 2 system consists of, as its initialisation events tell (message-flow 3.3.2).
///
/// An object is known by (handle, process, host) for as long as no newer object takes its address:
/// a re-used address makes a new object (message-flow 3.3.1). Nothing is invented: what no event
/// told is nullopt or empty.
namespace takt::execution {

using events::HostIndex;
using events::ProcessIndex;
using events::ThreadIndex;

using NodeIndex = Index<struct NodeTag>;
using TopicIndex = Index<struct TopicTag>;
using PublisherIndex = Index<struct PublisherTag>;
using SubscriptionIndex = Index<struct SubscriptionTag>;
using TimerIndex = Index<struct TimerTag>;
using ServiceIndex = Index<struct ServiceTag>;
using ClientIndex = Index<struct ClientTag>;
using CallbackIndex = Index<struct CallbackTag>;

/// The 16 bytes that identify a reader, writer, client or service to the middleware.
using Gid = std::array<std::uint64_t, 2>;

struct Node {
  ProcessIndex process;
  std::uint64_t handle = 0;
  std::string name;
  std::string name_space;
  Instant since;

  /// "/robot/planner".
  [[nodiscard]] std::string full_name() const {
    return name_space.ends_with('/') ? name_space + name : name_space + "/" + name;
  }
};

struct Publisher {
  ProcessIndex process;
  std::uint64_t handle = 0;
  std::uint64_t rmw_handle = 0;
  std::optional<NodeIndex> node;
  TopicIndex topic;
  std::int64_t queue_depth = 0;
  Gid gid{};
  Instant since;
};

struct Subscription {
  ProcessIndex process;
  std::uint64_t handle = 0;
  std::uint64_t rmw_handle = 0;
  std::optional<NodeIndex> node;
  TopicIndex topic;
  std::int64_t queue_depth = 0;
  Gid gid{};
  CallbackIndex callback;
  Instant since;
};

struct Timer {
  ProcessIndex process;
  std::uint64_t handle = 0;
  Duration period{};
  std::optional<NodeIndex> node;
  CallbackIndex callback;
  Instant since;
};

struct Service {
  ProcessIndex process;
  std::uint64_t handle = 0;
  std::uint64_t rmw_handle = 0;
  std::optional<NodeIndex> node;
  TopicIndex name;
  CallbackIndex callback;
  Instant since;
};

struct Client {
  ProcessIndex process;
  std::uint64_t handle = 0;
  std::uint64_t rmw_handle = 0;
  std::optional<NodeIndex> node;
  TopicIndex name;
  Gid gid{};
  Instant since;
};

struct LifecycleMachine {
  ProcessIndex process;
  std::uint64_t handle = 0;
  std::optional<NodeIndex> node;
  std::string state;
  std::uint64_t transitions = 0;
};

/// A causal link that the program declared (message-flow 3.5.2).
struct MessageLink {
  enum class Kind { periodic_async, partial_sync };
  Kind kind = Kind::periodic_async;
  ProcessIndex process;
  std::vector<SubscriptionIndex> inputs;
  std::vector<PublisherIndex> outputs;
};

enum class CallbackKind { timer, subscription, service, unknown };

/// What runs for a timer, subscription or service; unknown if its owner's creation was not
/// recorded. A subscription has one even where rclcpp made two (one for messages of its own
/// process).
struct Callback {
  CallbackKind kind = CallbackKind::unknown;
  ProcessIndex process{};
  std::optional<TimerIndex> timer{};
  std::optional<SubscriptionIndex> subscription{};
  std::optional<ServiceIndex> service{};
  /// Address by which the events name it; 0 until one did.
  std::uint64_t handle = 0;
  /// Name of the C++ function, empty if not recorded.
  std::string symbol{};
};

/// How a thread that spins an executor introduced itself (takt:executor_init).
struct ExecutorThread {
  ThreadIndex thread;
  std::string executor;
  std::string kind;
  std::string timers;
  std::int64_t threads = 0;
  std::string policy;
  Duration runtime{};
  Duration deadline{};
  Duration period{};
  std::int64_t priority = 0;
  std::int64_t cpu = -1;
};

/// Objects of a process that are older than the recording and were found in its memory, and what of
/// them nobody could find out afterwards, in words: empty if nothing (takt:objects_recovered).
struct Recovery {
  ProcessIndex process;
  std::uint64_t objects = 0;
  std::string unknown;
};

struct Objects {
  std::vector<std::string> topics;
  std::vector<Node> nodes;
  std::vector<Publisher> publishers;
  std::vector<Subscription> subscriptions;
  std::vector<Timer> timers;
  std::vector<Service> services;
  std::vector<Client> clients;
  std::vector<LifecycleMachine> lifecycle_machines;
  std::vector<MessageLink> message_links;
  /// In the order in which they were registered.
  std::vector<Callback> callbacks;
  std::vector<ExecutorThread> executor_threads;
  std::vector<Recovery> recoveries;
  /// Version of tracetools that each process reported, by process; empty if none.
  std::vector<std::string> tracetools_versions;
  /// The last initialisation event.
  std::optional<Instant> initialised;

  const std::string& operator[](TopicIndex i) const { return topics[i.value()]; }
  const Node& operator[](NodeIndex i) const { return nodes[i.value()]; }
  const Publisher& operator[](PublisherIndex i) const { return publishers[i.value()]; }
  const Subscription& operator[](SubscriptionIndex i) const { return subscriptions[i.value()]; }
  const Timer& operator[](TimerIndex i) const { return timers[i.value()]; }
  const Service& operator[](ServiceIndex i) const { return services[i.value()]; }
  const Client& operator[](ClientIndex i) const { return clients[i.value()]; }
  const Callback& operator[](CallbackIndex i) const { return callbacks[i.value()]; }

  [[nodiscard]] std::optional<NodeIndex> node_of(const Callback& callback) const;
  /// Full name of the callback's node, "unknown" if that is not known.
  [[nodiscard]] std::string node_name(const Callback& callback) const;
  /// Topic of a subscription, name of a service.
  [[nodiscard]] std::optional<TopicIndex> topic_of(const Callback& callback) const;
};

}  // namespace takt::execution
