#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/index.hpp"
#include "takt/base/selection.hpp"
#include "takt/events/fields.hpp"
#include "takt/events/threads.hpp"
#include "takt/time/time.hpp"

/// The objects of a ROS 2 system, as its initialisation events describe them (message-flow 3.3.2).
///
/// An object is known by (handle, process, host) for as long as no newer object takes its address:
/// a re-used address makes a new object (message-flow 3.3.1). Nothing is invented: a property that
/// no event reported is nullopt or empty.
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
using WaitableIndex = Index<struct WaitableTag>;
using EventSourceIndex = Index<struct EventSourceTag>;
/// A callback of a trace; a model's callbacks have indices of their own.
using ObservedCallbackIndex = Index<struct ObservedCallbackTag>;

using events::Gid;
using events::Handle;

struct Node {
  ProcessIndex process;
  Handle handle = 0;
  std::string name;
  std::string name_space;
  Instant since;
  /// The node that goes on in this one's place, see Callback::continues.
  std::optional<NodeIndex> continues{};

  /// "/robot/planner".
  [[nodiscard]] std::string full_name() const {
    return name_space.ends_with('/') ? name_space + name : name_space + "/" + name;
  }
};

struct Publisher {
  ProcessIndex process;
  Handle handle = 0;
  Handle rmw_handle = 0;
  std::optional<NodeIndex> node{};
  TopicIndex topic;
  std::int64_t queue_depth = 0;
  Gid gid{};
  Instant since;
};

struct Subscription {
  ProcessIndex process;
  Handle handle = 0;
  Handle rmw_handle = 0;
  std::optional<NodeIndex> node{};
  TopicIndex topic;
  std::int64_t queue_depth = 0;
  Gid gid{};
  ObservedCallbackIndex callback;
  Instant since;
  /// rclcpp brings it the messages of its process by a buffer. It takes them from the middleware,
  /// too, and throws those away.
  bool has_buffer = false;
};

struct Timer {
  ProcessIndex process;
  Handle handle = 0;
  Duration period{};
  std::optional<NodeIndex> node{};
  ObservedCallbackIndex callback;
  Instant since;
};

struct Service {
  ProcessIndex process;
  Handle handle = 0;
  Handle rmw_handle = 0;
  std::optional<NodeIndex> node{};
  TopicIndex name;
  ObservedCallbackIndex callback;
  Instant since;
};

struct Client {
  ProcessIndex process;
  Handle handle = 0;
  Handle rmw_handle = 0;
  std::optional<NodeIndex> node{};
  TopicIndex name;
  Gid gid{};
  /// Runs when a response comes.
  ObservedCallbackIndex callback;
  Instant since;
};

/// Something else that an executor runs (takt:callback_init).
struct Waitable {
  ProcessIndex process;
  std::optional<NodeIndex> node{};
  ObservedCallbackIndex callback;
  /// Its triggers are messages on a topic of its own, which has no name.
  TopicIndex triggers;
};

/// The work of a thread that no executor serves (ros-llama S-1.5). takt:callback_init describes it,
/// or it is inferred from what the thread was seen to do (thread_tracker.hpp).
struct EventSource {
  ProcessIndex process;
  std::optional<NodeIndex> node{};
  ObservedCallbackIndex callback;
  /// The period of a periodic thread. 0: it is not periodic, but runs when its input comes.
  Duration period{};
  /// The topic on which a thread that is not periodic published first.
  std::optional<TopicIndex> topic{};
  /// It stands for the messages of an unclassifiable thread on that topic, whose timing is unknown.
  bool is_opaque = false;
};

struct LifecycleMachine {
  ProcessIndex process;
  Handle handle = 0;
  std::optional<NodeIndex> node{};
  std::string state{};
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

/// A link between callbacks within a node, as the program declared it (takt:inputs_linked).
struct InputLink {
  /// Joins of the two kinds that models have, or a timer that reads what callbacks keep.
  enum class Kind { and_, newest, sampled };
  Kind kind = Kind::newest;
  ProcessIndex process;
  std::vector<ObservedCallbackIndex> inputs;
  /// The timer's callback.
  std::optional<ObservedCallbackIndex> reader;
};

enum class CallbackKind { timer, subscription, service, client, waitable, event_source, unknown };

/// "timer" …, as documents name it.
[[nodiscard]] std::string_view to_string(CallbackKind kind);

/// The function that runs for a timer, subscription, service, client or waitable, or the work of an
/// event source. Its kind is unknown if the creation of its owner was not recorded. A subscription
/// has one callback even where rclcpp made two (one for messages of its own process).
///
/// What has ended and came back has one callback, whose owner is the newest (identities.hpp).
struct Callback {
  CallbackKind kind = CallbackKind::unknown;
  ProcessIndex process{};
  std::optional<TimerIndex> timer{};
  std::optional<SubscriptionIndex> subscription{};
  std::optional<ServiceIndex> service{};
  std::optional<ClientIndex> client{};
  std::optional<WaitableIndex> waitable{};
  std::optional<EventSourceIndex> event_source{};
  /// The address by which events name it; 0 until an event has named it.
  Handle handle = 0;
  /// Name of the C++ function, empty if not recorded.
  std::string symbol{};
  /// The callback that goes on in this one's place; this one has no instances.
  std::optional<ObservedCallbackIndex> continues{};
  /// A timer that other callbacks make for each of its runs, to fire once: the topic, without a
  /// name, on which what makes it activates it.
  std::optional<TopicIndex> triggers{};
};

/// A thread that spins an executor, as it introduced itself (takt:executor_init).
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

/// The library that a program's nodes are made with. It decides in which order an executor runs
/// what is ready together.
enum class ClientLibrary : std::uint8_t {
  unknown,
  /// It told of an execution by one of rclcpp's executors (rclcpp_executor_execute).
  rclcpp,
  /// It said so (takt:client_library).
  rclpy,
  /// Both in one process.
  several,
};

/// A recorder found objects in the memory of a process that is older than the recording
/// (takt:objects_recovered). `unknown` says in words what could not be found out about them; it is
/// empty if nothing is missing.
struct Recovery {
  ProcessIndex process;
  std::uint64_t objects = 0;
  std::string unknown;
};

/// A process with ROS 2 that the recorder did not record, or not from its beginning
/// (takt:unrecorded_process).
struct Unrecorded {
  ProcessIndex process;
  std::string why;
};

struct Objects {
  std::vector<std::string> topics;
  std::vector<Node> nodes;
  std::vector<Publisher> publishers;
  std::vector<Subscription> subscriptions;
  std::vector<Timer> timers;
  std::vector<Service> services;
  std::vector<Client> clients;
  std::vector<Waitable> waitables;
  std::vector<EventSource> event_sources;
  std::vector<LifecycleMachine> lifecycle_machines;
  std::vector<MessageLink> message_links;
  std::vector<InputLink> input_links;
  /// By process: how many links it declared to have in all (takt:links_declared).
  std::vector<std::optional<std::uint64_t>> declared_links;
  /// In the order in which they were registered.
  std::vector<Callback> callbacks;
  std::vector<ExecutorThread> executor_threads;
  std::vector<Recovery> recoveries;
  std::vector<Unrecorded> unrecorded;
  /// Says what was to be recorded (takt:selection). Only the objects of the rest are known.
  Selection selection;
  /// By process: how often it initialised ROS 2 (rcl_init).
  std::vector<std::uint64_t> contexts;
  /// Version of tracetools that each process reported, by process; empty if none.
  std::vector<std::string> tracetools_versions;
  /// By process.
  std::vector<ClientLibrary> client_libraries;
  /// By process: its executors signal the runs of callbacks that no event names.
  std::vector<char> signals_runs;
  /// The last initialisation event.
  std::optional<Instant> initialised;

  template <typename Tag>
  [[nodiscard]] const auto& operator[](Index<Tag> i) const {
    return (this->*list_of(i))[i.value()];
  }
  template <typename Tag>
  [[nodiscard]] auto& operator[](Index<Tag> i) {
    return (this->*list_of(i))[i.value()];
  }

  /// Whether the process declared all links within its nodes, and all of them are known.
  [[nodiscard]] bool has_all_links(ProcessIndex process) const;
  [[nodiscard]] std::optional<NodeIndex> node_of(const Callback& callback) const;
  /// Full name of the callback's node, "unknown" if that is not known.
  [[nodiscard]] std::string node_name(const Callback& callback) const;
  /// Whether the events of an entity were left out of the recording because its user wanted it.
  [[nodiscard]] bool is_left_out(const std::optional<NodeIndex>& node, TopicIndex topic) const;
  [[nodiscard]] bool is_left_out(const Callback& callback) const;
  /// Topic of a subscription, name of a service or of a client's service.
  [[nodiscard]] std::optional<TopicIndex> topic_of(const Callback& callback) const;

 private:
  static constexpr auto list_of(TopicIndex) { return &Objects::topics; }
  static constexpr auto list_of(NodeIndex) { return &Objects::nodes; }
  static constexpr auto list_of(PublisherIndex) { return &Objects::publishers; }
  static constexpr auto list_of(SubscriptionIndex) { return &Objects::subscriptions; }
  static constexpr auto list_of(TimerIndex) { return &Objects::timers; }
  static constexpr auto list_of(ServiceIndex) { return &Objects::services; }
  static constexpr auto list_of(ClientIndex) { return &Objects::clients; }
  static constexpr auto list_of(WaitableIndex) { return &Objects::waitables; }
  static constexpr auto list_of(EventSourceIndex) { return &Objects::event_sources; }
  static constexpr auto list_of(ObservedCallbackIndex) { return &Objects::callbacks; }
};

}  // namespace takt::execution
