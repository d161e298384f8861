#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "takt/execution/anomalies.hpp"
#include "takt/execution/instances.hpp"

namespace takt::execution {

/// The callbacks that run on each thread, as a stack: a callback may spin and so run another
/// (message-flow 3.3.3). Also keeps each thread's processor time and waits, from which follow an
/// instance's execution time and the executor's overhead before it.
class CallbackTracker {
 public:
  /// How a thread has suspended itself up to an instant.
  struct Waits {
    std::int64_t times = 0;
    /// How long it was suspended; none: only the number is known.
    std::optional<Duration> time;
    /// How long it was ready and had no processor; none: nothing shows it.
    std::optional<Duration> ready;
  };

  /// All outlive the tracker. `mixed` gets the threads whose callbacks overlap.
  CallbackTracker(Anomalies& anomalies, std::vector<ExecutorActivity>& activity,
                  std::vector<ThreadIndex>& mixed)
      : anomalies_(anomalies), activity_(activity), mixed_(mixed) {}

  /// Begins an instance; the caller adds how it was activated. An instance of the same callback
  /// that is still open on the thread has lost its end, and so have all that began within it: a
  /// callback that spins does not run itself.
  CallbackInstance& start(ThreadIndex thread, Instant time, std::uint64_t handle,
                          ObservedCallbackIndex callback);
  /// Ends the newest instance of the callback on the thread; the pointer is valid until the next
  /// start. Null if there is none.
  const CallbackInstance* end(ThreadIndex thread, Instant time, std::uint64_t handle);
  /// Whether a callback that no event names may start on the thread when it takes a message: no
  /// callback runs on the thread, and the thread is known to belong to an executor.
  [[nodiscard]] bool may_run_unannounced(ThreadIndex thread) const;
  /// Whether the thread's executor emits events of its own, which show when it goes on. rclcpp's
  /// executors of events emit none.
  [[nodiscard]] bool tells_what_it_does(ThreadIndex thread) const;
  /// Whether the thread runs callbacks that events name, or events show that it serves an executor.
  [[nodiscard]] bool is_of_executor(ThreadIndex thread) const;
  /// Begins an instance of a callback that no event names.
  CallbackInstance& start_unannounced(ThreadIndex thread, Instant time,
                                      ObservedCallbackIndex callback);
  /// Ends the instance on the thread that no event names, or that may lack an end: the executor
  /// emitted an event. Null if there is none; else the pointer is valid until the next start.
  const CallbackInstance* end_unannounced(ThreadIndex thread, Instant time);
  /// Begins one whose beginning and end its executor signals; end_unannounced ends it.
  CallbackInstance& start_signalled(ThreadIndex thread, Instant time,
                                    ObservedCallbackIndex callback);
  /// Drops such an instance: an event names the callback after all, or the message was kept.
  void cancel_unannounced(ThreadIndex thread);
  /// The last time at which the instance that runs on the thread is known to have run.
  [[nodiscard]] Instant last_activity(ThreadIndex thread) const;
  void note_activity(ThreadIndex thread, Instant time);
  /// The number of an instance that begins now and is not a callback's.
  InstanceId next_id() { return static_cast<InstanceId>(++newest_); }
  /// The running instance of this number, or null. O(threads).
  CallbackInstance* find_open(InstanceId id);

  /// The instance running on the thread, or null.
  [[nodiscard]] const CallbackInstance* current(ThreadIndex thread) const;

  /// The thread has used a processor for so long. `waits`: none if nothing shows them.
  void cpu_time(ThreadIndex thread, Duration time, std::optional<Waits> waits);
  /// From now on the thread's processor times are those of another clock.
  void change_clock(ThreadIndex thread);
  void wait_begin(ThreadIndex thread, Instant time);
  void wait_end(ThreadIndex thread, Instant time);

  /// When the thread's executor emitted its first event; none if it has emitted none.
  [[nodiscard]] std::optional<Instant> spins_since(ThreadIndex thread) const;

  /// Takes the instances that never ended.
  std::vector<CallbackInstance> finish();

 private:
  struct Open {
    std::uint64_t handle = 0;
    std::optional<Duration> cpu_at_start;
    std::optional<Waits> waits_at_start;
    bool cpu_known_later = false;
    CallbackInstance instance;
    Instant last_activity;
  };
  struct State {
    std::vector<Open> stack;
    /// The newest callbacks that were taken for ones without an end.
    std::vector<std::uint64_t> cut;
    bool is_mixed = false;
    CallbackInstance ended;
    std::optional<Duration> cpu_now;
    std::optional<Waits> waits_now;
    std::optional<Duration> cpu_at_end;
    std::optional<Instant> last_end;
    /// From the last instance's end to the executor's first event after it.
    std::optional<Duration> before_turn;
    /// From the last instance's end to the first wait after it.
    std::optional<Duration> before_wait;
    /// The value of `before_wait` before an instance that no event names, in case that is dropped.
    std::optional<Duration> before_unannounced;
    std::optional<Instant> waiting_since;
    std::optional<Instant> wait_begin;
    std::optional<Instant> wait_end;
    std::optional<Instant> slept_from;
    std::optional<Instant> slept_until;
    /// When the newest waits began, the newest first.
    std::array<std::optional<Instant>, 3> waits{};
    bool waited = false;
    bool has_waits = false;
    /// When its executor emitted the first event.
    std::optional<Instant> speaks_since;
    /// An event has named a callback that runs on it.
    bool runs_callbacks = false;
    /// The executor's last event, if no callback has started since and it does not wait.
    std::optional<Instant> chosen_since;
  };

  State& state(ThreadIndex thread);
  [[nodiscard]] const State* find(ThreadIndex thread) const;
  const CallbackInstance* pop(State& now, Instant time);
  static std::optional<Suspended> suspended(const Open& open, const State& now, Instant end);
  /// Takes this one and those within it for instances without an end.
  void cut(State& now, std::vector<Open>::iterator first);
  /// The executor emitted an event on a thread; `is_waiting`: it begins to wait.
  void executor_event(ThreadIndex thread, Instant time, bool is_waiting);
  static void end_wait(State& now, Instant time);
  /// Notes a wait that ends now, if it was a sleep.
  static void end_sleep(State& now, Instant time);
  static std::optional<Duration> overhead(const State& state, Instant start);

  Anomalies& anomalies_;
  std::vector<ExecutorActivity>& activity_;
  std::vector<ThreadIndex>& mixed_;
  std::uint64_t newest_ = 0;
  std::vector<State> states_;
};

}  // namespace takt::execution
