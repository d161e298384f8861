#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "takt/executor/executable.hpp"
#include "takt/executor/executor.hpp"
#include "takt/executor/missed_expiries.hpp"
#include "takt/executor/thread_settings.hpp"
#include "takt/linux/owned_mutex.hpp"
#include "takt/linux/thread_scheduling.hpp"
#include "takt/scheduling/callback_groups.hpp"
#include "takt/scheduling/policy.hpp"

namespace takt::executor {

class Arrivals;
class Dispatcher;
class TimerReleaser;
struct Worker;

/// An executable (a MessageExecutable or a TimerExecutable) and the callback of the policy that it
/// activates. Several executables may activate one callback.
struct ScheduledExecutable {
  Executable* executable = nullptr;
  scheduling::LocalIndex callback;
};

using scheduling::CallbackGroups;

/// An executor that takes no wait set: a thread of its own releases timers, the middleware reports
/// messages, and a policy of scheduling/ decides after every callback what runs next
/// (component-cps Part 3). It is work-conserving, sleeps when nothing is released, and wakes once
/// for what comes then. Where its threads have a priority or a reservation, those that report to it
/// are scheduled before them, the middleware's as far as the kernel permits.
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
    /// Threads that run callbacks; more than one needs a policy that is sharable.
    std::size_t threads = 1;
    CallbackGroups groups{};
    /// Deadlines count from an instance's own activation instead of its origin's.
    bool own_origin = false;
    MissedExpiries missed = MissedExpiries::all;
    /// A callback may call spin_once(). Only where executables do not touch the message that was
    /// chosen for them once their callback has begun.
    bool nests = false;
    /// What each thread that runs callbacks is set to. spin() fails if the kernel refuses it.
    ThreadSettings thread{};
    /// Called on each of these threads before it runs callbacks, with its number: 0 is the thread
    /// that calls spin().
    std::function<void(std::size_t)> thread_started{};
    /// How the thread that releases timers is scheduled, which must not wait for those that run
    /// callbacks. None: before() their scheduling, or as the thread that adds the first timer if
    /// they have none. create() fails if the kernel refuses it.
    std::optional<linux_os::ThreadScheduling> releaser{};
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
  /// within `timeout` (none: whenever). Whether one ran; cancel() ends the waiting, and so does an
  /// interruption after the first `since`. What it throws is thrown here. As many threads may call
  /// it at once as the executor has, and callbacks that it runs beyond that if it nests.
  [[nodiscard]] Result<bool> spin_once(std::optional<Duration> timeout,
                                       std::optional<std::uint64_t> since = std::nullopt);

  /// Ends the waiting of every spin_once() that knows fewer interruptions: who waits for something
  /// else than callbacks, which has come, asks for interruptions(), looks, and waits then.
  void interrupt();
  [[nodiscard]] std::uint64_t interruptions() const;

  /// Whether the calling thread runs a callback of this executor.
  [[nodiscard]] bool is_running_here() const;

  /// Releases the timers that are due and takes in what has come, without running anything. How
  /// many instances wait.
  [[nodiscard]] Result<std::size_t> catch_up();

  void cancel() override;

  /// From now on runs these executables, decided by another policy: adds, removes and reorders,
  /// from any thread at any time. Instances of executables that stay wait on, in the order of their
  /// release. It returns when no callback of a removed executable runs any more. A callback of an
  /// executor that nests does not wait, as others may wait for it: it keeps removed executables
  /// until removed_run() is false. Other callbacks wait for all but themselves. Allocates.
  [[nodiscard]] Result<void> replace(std::span<const ScheduledExecutable> executables,
                                     std::unique_ptr<scheduling::Policy> policy,
                                     std::size_t callbacks, const CallbackGroups& groups = {});

  /// Whether callbacks of removed executables run.
  [[nodiscard]] bool removed_run();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Lock = std::unique_lock<linux_os::OwnedMutex>;

  explicit EventsExecutor(Options options);

  // Called with the decision lock held.
  void take_in_arrivals();
  void take_in_unseen();
  [[nodiscard]] Result<void> start_releaser();
  [[nodiscard]] Result<void> watch_timers();
  void await_removed(Lock& decision);
  [[nodiscard]] bool find_job(Worker& worker);
  [[nodiscard]] bool await_job(Worker& worker, Lock& decision, std::optional<TimePoint> deadline,
                               std::optional<std::uint64_t> since);
  void sleep(Worker& worker, Lock& decision, std::optional<TimePoint> deadline,
             std::optional<std::uint64_t> since);
  void serve_idle_workers();
  void run_job(Worker& worker, Lock& decision);
  [[nodiscard]] std::exception_ptr complete_job(Worker& worker, Lock& decision);
  [[nodiscard]] Result<bool> spin_nested(std::size_t number, std::optional<TimePoint> deadline,
                                         std::optional<std::uint64_t> since);
  void fail(const Error& failure);

  // Called without.
  void raise_middleware();
  void spin_worker(Worker& worker);
  [[nodiscard]] Result<void> take_failure();

  Options options_;
  /// Guards what follows, but for the arrivals, and the taking of messages. The middleware reports
  /// arrivals under locks of its own, which taking needs too: who notes one must not need it.
  linux_os::OwnedMutex decision_;
  std::unique_ptr<Arrivals> arrivals_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<TimerReleaser> releaser_;
  /// That the middleware's threads come after those that run callbacks has been said.
  std::atomic<bool> has_warned_ = false;
  /// Numbers of workers that no thread has.
  std::vector<std::size_t> free_workers_;
  /// A job of a removed executable has ended.
  std::condition_variable_any removed_ended_;
  /// Why spinning ends, if not because it is cancelled.
  Result<void> failure_;
  std::exception_ptr thrown_;
};

}  // namespace takt::executor
