#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "takt/executor/executable.hpp"
#include "takt/executor/executor.hpp"
#include "takt/executor/ring.hpp"
#include "takt/executor/thread_settings.hpp"
#include "takt/executor/timer_releaser.hpp"
#include "takt/scheduling/policy.hpp"

namespace takt::executor {

/// An executable (a MessageExecutable or a TimerExecutable) and the callback of the policy that it
/// activates. Several executables may activate one callback.
struct ScheduledExecutable {
  Executable* executable = nullptr;
  scheduling::CallbackIndex callback;
};

/// Which callbacks may run beside each other on several threads. A callback that is in neither list
/// runs beside all others but never twice at once.
struct CallbackGroups {
  /// Callbacks of which one at most runs at any time; the others of its group wait.
  std::vector<std::vector<scheduling::CallbackIndex>> exclusive{};
  /// Callbacks that may run several times at once.
  std::vector<scheduling::CallbackIndex> reentrant{};
};

/// An executor that takes no wait set: a thread of its own releases timers, the middleware reports
/// messages, and a policy of scheduling/ decides after every callback what runs next
/// (component-cps Part 3). It is work-conserving, sleeps when nothing is released, and wakes once
/// for what comes then.
///
/// Releases never wait for a decision or for a callback: they only note what came. Before each
/// decision the executor takes in what was noted, in the order of arrival, and binds each message
/// to the instance that it activates.
///
/// A policy that goes by the time counts from the zero of CLOCK_MONOTONIC, so that the tables of
/// all executors on a machine agree.
class EventsExecutor final : public Executor {
 public:
  struct Options {
    /// Threads that run callbacks; more than one needs a scheduling::SharablePolicy.
    std::size_t threads = 1;
    CallbackGroups groups{};
    /// Deadlines count from an instance's own activation instead of its origin's.
    bool own_origin = false;
    /// A timer's expiry is skipped while an earlier one waits, as by executors that wait on a wait
    /// set. Otherwise each becomes an instance.
    bool skips_missed_periods = false;
    /// Of each thread that runs callbacks. spin() fails if the kernel refuses it.
    ThreadSettings thread{};
    /// Called on each of these threads before it runs callbacks, with its number: 0 is the thread
    /// that calls spin().
    std::function<void(std::size_t)> thread_started{};
    /// Of the thread that releases timers; before that of the threads that run callbacks.
    linux_os::ThreadScheduling releaser = linux_os::OtherScheduling{};
  };

  /// `policy` decides among `callbacks` callbacks. The executables must outlive the executor or
  /// their removal.
  [[nodiscard]] static Result<std::unique_ptr<EventsExecutor>> create(
      std::span<const ScheduledExecutable> executables, std::unique_ptr<scheduling::Policy> policy,
      std::size_t callbacks, Options options);

  ~EventsExecutor() override;

  /// Runs callbacks on the calling thread and, with more than one, on threads that it starts. What
  /// a callback throws on any of them ends all of them and is thrown here; nothing that waits is
  /// lost, and spin() may be called again.
  [[nodiscard]] Result<void> spin() override;

  /// Runs one callback at most, on the calling thread: the most urgent one, or the first that comes
  /// within `timeout` (none: whenever). Whether one ran; cancel() ends the waiting. What it throws
  /// is thrown here. As many threads may call it at once as the executor has.
  [[nodiscard]] Result<bool> spin_once(std::optional<Duration> timeout);

  /// Releases the timers that are due and takes in what has come, without running anything. How
  /// many instances wait.
  [[nodiscard]] Result<std::size_t> catch_up();

  void cancel() override;

  /// From now on runs these executables, decided by another policy: adds, removes and reorders,
  /// from any thread at any time. Instances of executables that stay wait on, in the order of their
  /// release. It returns when no callback of a removed executable runs any more, but for one that
  /// calls it. Allocates.
  [[nodiscard]] Result<void> replace(std::span<const ScheduledExecutable> executables,
                                     std::unique_ptr<scheduling::Policy> policy,
                                     std::size_t callbacks, const CallbackGroups& groups = {});

 private:
  using CallbackIndex = scheduling::CallbackIndex;
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Something that came: messages or an expiry.
  struct Arrival {
    std::size_t entry = 0;
    std::size_t count = 1;
    Instant when;
    /// What was running where it came from.
    std::optional<Instant> origin{};
  };

  /// A scheduled executable. Entries keep their place, and places of removed ones are used again.
  struct Entry {
    const Executable* executable = nullptr;
    MessageExecutable* messages = nullptr;
    TimerExecutable* timer = nullptr;
    CallbackIndex callback;
    std::size_t running = 0;
    bool is_removed = false;

    [[nodiscard]] bool is_free() const { return executable == nullptr; }
  };

  /// An activated instance that has not started.
  struct Instance {
    std::size_t entry = 0;
    Instant activation;
    Instant origin;
    /// In the order of release.
    std::uint64_t number = 0;
  };

  struct Callback {
    Ring<Instance> waiting{8};
    /// Those that may not run beside it.
    std::vector<CallbackIndex> excludes{};
    /// How many of those that run exclude it.
    std::size_t held = 0;
    /// Admitted at polling points; if so, whether the policy knows of an instance.
    bool is_polled = false;
    bool is_sampled = false;
  };

  struct Job {
    Instance instance;
    CallbackIndex callback;
    MessageExecutable* messages = nullptr;
    TimerExecutable* timer = nullptr;
    /// Which worker runs it, for its executable.
    std::size_t worker = 0;
    std::uint64_t generation = 0;
  };

  /// A thread that runs callbacks. It sleeps until it is given a job or told to look for one.
  struct Worker {
    std::size_t number = 0;
    std::condition_variable wake{};
    bool is_idle = false;
    std::optional<Job> job{};
  };

  using Lock = std::unique_lock<std::mutex>;

  explicit EventsExecutor(Options options);

  // Called by releasing threads; they wait for nothing but each other.
  void arrived(std::size_t entry, std::size_t count, Instant when);
  void wake_one_worker();

  // Called with the decision lock held, unless they take it.
  [[nodiscard]] Result<void> unwatch_all_but(std::span<const ScheduledExecutable> executables);
  [[nodiscard]] std::vector<Instance> waiting_instances();
  void adopt(std::unique_ptr<scheduling::Policy> policy, std::size_t callbacks,
             const CallbackGroups& groups);
  [[nodiscard]] Result<void> watch(std::span<const ScheduledExecutable> executables);
  [[nodiscard]] Result<void> watch_timers();
  void await_removed(Lock& decision);
  [[nodiscard]] Result<std::optional<Job>> await_job(Worker& worker, Lock& decision,
                                                     std::optional<TimePoint> deadline);
  [[nodiscard]] Result<std::optional<Job>> decide(Worker& worker);
  [[nodiscard]] Result<void> take_in_arrivals();
  [[nodiscard]] Result<void> admit(const Arrival& arrival);
  void release_new(const Entry& entry, Instance instance);
  void release(CallbackIndex callback, const Instance& instance);
  [[nodiscard]] std::optional<Job> next_job(const Worker& worker);
  [[nodiscard]] std::optional<CallbackIndex> next_callback();
  void sample();
  [[nodiscard]] Result<void> serve_idle_workers();
  /// False: something has come that must be looked at first.
  [[nodiscard]] bool become_idle(Worker& worker);
  [[nodiscard]] std::optional<Job> sleep(Worker& worker, std::optional<TimePoint> until);
  void hold_excluded(CallbackIndex callback);
  void resume_excluded(CallbackIndex callback);
  void finish(const Job& job);

  // Called without.
  void spin_worker(Worker& worker);
  void work(Worker& worker);
  [[nodiscard]] Result<void> run(const Job& job);
  [[nodiscard]] bool is_cancelled();
  void fail(const Error& failure);
  [[nodiscard]] Result<void> take_failure();

  Options options_;
  std::unique_ptr<scheduling::Policy> policy_;
  /// The same, if several threads share it.
  scheduling::SharablePolicy* shared_policy_ = nullptr;
  bool policy_goes_by_time_ = false;
  bool policy_polls_ = false;
  std::vector<Entry> entries_;
  std::vector<Callback> callbacks_;
  /// Numbers of workers that no thread has.
  std::vector<std::size_t> free_workers_;
  std::unique_ptr<TimerReleaser> releaser_;
  std::uint64_t released_ = 0;
  std::int64_t completed_ = 0;
  /// Counts replacements.
  std::uint64_t generation_ = 0;

  /// Guards what is above and the taking of messages.
  std::mutex decision_;
  /// A callback of a removed executable has ended.
  std::condition_variable removed_ended_;
  /// Guards what follows. Never held while a message is taken: the middleware reports arrivals
  /// under locks of its own, which taking needs too.
  std::mutex arrival_;
  std::vector<Arrival> arrivals_;
  std::vector<Worker*> idle_;
  /// An idle worker has been told to look for jobs and has not done so yet.
  bool is_waking_ = false;
  bool cancelled_ = false;
  Result<void> failure_;
  std::exception_ptr thrown_;

  /// Arrivals being taken in.
  std::vector<Arrival> batch_;
};

}  // namespace takt::executor
