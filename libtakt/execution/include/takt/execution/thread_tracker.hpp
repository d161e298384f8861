#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "takt/execution/callback_tracker.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/object_tracker.hpp"
#include "takt/execution/occurrence.hpp"
#include "takt/execution/thread_class.hpp"

namespace takt::execution {

/// Follows what threads do while no callback runs on them (ros-llama S-4.4.3): classifies the
/// threads, and turns their work into instances of event sources.
///
/// - periodic: an instance lasts from waking up to going to sleep. What a thread does before it
///   sleeps first is lost on purpose, because it sets things up.
/// - data-driven: each publication ends an instance and begins the next. No event shows when the
///   thread got its data. The instance is taken to begin as long before the publication as the
///   thread has used a processor since the last one; without a processor clock, right after the
///   last one.
/// - unclassifiable: each publication is an instance of an opaque sender, which takes no time.
///
/// Threads that do the same one after the other, as those of an action's goals, are one event
/// source.
class ThreadTracker {
 public:
  /// All outlive the tracker. Instances get their numbers from `callbacks`.
  ThreadTracker(ObjectTracker& objects, CallbackTracker& callbacks,
                std::vector<ThreadHistory>& histories)
      : objects_(objects), callbacks_(callbacks), histories_(histories) {}

  void cpu_time(ThreadIndex thread, Duration time);

  /// The thread's executor waits, for ever or until a time.
  void waits(ThreadIndex thread, bool forever);
  /// The thread's executor runs something, or has introduced itself.
  void serves(ThreadIndex thread);
  void limited_spin(ThreadIndex thread, bool begins);

  /// The pointers are valid until the next call; null: no instance ends.
  const CallbackInstance* rate_sleep(const Occurrence& at, Duration period);
  void rate_wakeup(const Occurrence& at);
  const CallbackInstance* rate_stop(const Occurrence& at);
  /// The thread stands for something outside the model: the messages that it sends get no instance.
  void mark_outside(ThreadIndex thread) { state(thread).is_outside = true; }
  [[nodiscard]] bool is_outside(ThreadIndex thread) { return state(thread).is_outside; }
  /// The instance of a periodic thread's source that runs, and the source; none if none does.
  std::optional<std::pair<InstanceId, ObservedCallbackIndex>> running(const Occurrence& at);
  /// For a thread that runs no callback and publishes. Gives the publication the instance that it
  /// belongs to, if there is one. Returns that instance if the publication ends it.
  const CallbackInstance* publish(ProcessIndex process, Publication& publication);
  /// The same for a request or a trigger, which ends only the instance of an opaque sender.
  const CallbackInstance* send(ProcessIndex process, Publication& publication);

 private:
  /// Threads with equal keys do the same.
  using Key =
      std::tuple<ProcessIndex, std::optional<NodeIndex>, Duration, std::optional<TopicIndex>, bool>;
  /// One of the event sources of a key: several threads may do the same at the same time.
  struct Slot {
    ThreadIndex owner;
    Instant last;
    ObservedCallbackIndex source;
  };
  struct State {
    /// An endless spin goes on: further waits of its executor are no news.
    bool is_spinning = false;
    bool is_in_limited_spin = false;
    bool is_outside = false;
    /// The instance that runs.
    bool is_open = false;
    InstanceId id = InstanceId::none;
    Instant start;
    std::optional<Duration> cpu_at_start;
    /// The reading of the clock at the start comes after the event of the start.
    bool awaits_cpu = false;
    std::optional<Duration> cpu_now;
    /// The thread's event source; null if it has none, or if its class has changed since.
    std::vector<Slot>* alike = nullptr;
    std::size_t slot = 0;
    Duration period{};
    std::optional<NodeIndex> node;
    std::optional<Instant> first_seen;
    CallbackInstance ended;
  };

  State& state(ThreadIndex thread);
  ThreadHistory& history(ThreadIndex thread);
  /// Ends what ran if the event changes the thread's class.
  bool change(ThreadIndex thread, ThreadEvent event);
  void begin(State& state, Instant time);
  static const CallbackInstance* end(ThreadIndex thread, State& state, ObservedCallbackIndex source,
                                     Instant time);
  /// Notes the node of whose publishers a thread uses one.
  void know_node(ThreadIndex thread, State& now, NodeIndex node);
  /// The thread's event source, or one like `wanted` if it has none.
  ObservedCallbackIndex source(ThreadIndex thread, State& state, const EventSource& wanted,
                               Instant time);
  const CallbackInstance* send_opaquely(ProcessIndex process, State& state,
                                        Publication& publication);
  static void enclose(const State& state, ObservedCallbackIndex source, Publication& publication);

  ObjectTracker& objects_;
  CallbackTracker& callbacks_;
  std::vector<ThreadHistory>& histories_;
  std::vector<State> states_;
  std::map<Key, std::vector<Slot>> slots_;
};

}  // namespace takt::execution
