#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "takt/executor/executable.hpp"
#include "takt/executor/executor.hpp"
#include "takt/executor/ring.hpp"
#include "takt/executor/timer.hpp"
#include "takt/executor/timer_releaser.hpp"
#include "takt/linux/thread_scheduling.hpp"
#include "takt/scheduling/policy.hpp"

namespace takt::executor {

/// An executable and the callback of the policy that it activates. Several executables may activate
/// one callback.
struct ScheduledExecutable {
  Executable* executable = nullptr;
  scheduling::CallbackIndex callback;
};

/// An executor that takes no wait set: a thread of its own releases timers, the middleware reports
/// messages, and a policy of scheduling/ decides after every callback what runs next
/// (component-cps Part 3). It is work-conserving, sleeps when nothing is released, and wakes once
/// for what comes then.
///
/// Releases never wait for a decision or for a callback: they only note what came. Before each
/// decision the executor takes in what was noted, in the order of arrival, and binds each message
/// to the instance that it activates.
class EventsExecutor final : public Executor {
 public:
  struct Options {
    /// Threads that run callbacks; more than one needs a scheduling::SharablePolicy.
    std::size_t threads = 1;
    /// Callbacks of which one at most runs at any time; the others of its group wait. A callback
    /// that is in no group still never runs twice at once.
    std::vector<std::vector<scheduling::CallbackIndex>> exclusive_groups{};
    /// Deadlines count from an instance's own activation instead of its origin's.
    bool own_origin = false;
    /// Of the thread that releases timers; before that of the threads that run callbacks.
    linux_os::ThreadScheduling releaser = linux_os::OtherScheduling{};
  };

  /// `policy` decides among `callbacks` callbacks. The executables must outlive the executor.
  [[nodiscard]] static Result<std::unique_ptr<EventsExecutor>> create(
      std::span<const ScheduledExecutable> executables, std::unique_ptr<scheduling::Policy> policy,
      std::size_t callbacks, Options options);

  ~EventsExecutor() override;

  /// Runs callbacks on the calling thread and, with more than one, on threads that it starts. What
  /// a callback throws on any of them ends all of them and is thrown here.
  [[nodiscard]] Result<void> spin() override;
  void cancel() override;

 private:
  using CallbackIndex = scheduling::CallbackIndex;

  /// Something that came: messages or an expiry.
  struct Arrival {
    std::size_t executable = 0;
    std::size_t count = 1;
    Instant when;
    /// What was running where it came from.
    std::optional<Instant> origin{};
  };

  /// An activated instance that has not started.
  struct Instance {
    std::size_t executable = 0;
    Instant origin;
  };

  struct Callback {
    Ring<Instance> waiting{8};
    /// Those that may not run beside it, itself included.
    std::vector<CallbackIndex> excludes{};
  };

  struct Job {
    CallbackIndex callback;
    Instance instance;
  };

  /// A thread that runs callbacks. It sleeps until it is given a job or told to look for one.
  struct Worker {
    std::condition_variable wake{};
    bool is_idle = false;
    std::optional<Job> job{};
  };

  EventsExecutor(std::unique_ptr<scheduling::Policy> policy, std::size_t callbacks,
                 Options options);
  [[nodiscard]] Result<void> watch(std::span<const ScheduledExecutable> executables);

  // Called by releasing threads; they wait for nothing but each other.
  void arrived(std::size_t executable, std::size_t count, Instant when);

  // Called by workers.
  void work_or_throw(Worker& worker);
  void work(Worker& worker);
  [[nodiscard]] Result<std::optional<Job>> decide();
  [[nodiscard]] Result<void> take_in_arrivals();
  [[nodiscard]] Result<void> admit(const Arrival& arrival);
  void release(CallbackIndex callback, Instance instance, Instant activation);
  [[nodiscard]] std::optional<Job> next_job();
  [[nodiscard]] Result<void> serve_idle_workers();
  /// False: something has come that must be looked at first.
  [[nodiscard]] bool become_idle(Worker& worker);
  [[nodiscard]] std::optional<Job> sleep(Worker& worker);
  [[nodiscard]] bool is_cancelled();
  [[nodiscard]] Result<void> run(const Job& job);
  void finish(const Job& job);
  void fail(const Error& failure);

  std::unique_ptr<scheduling::Policy> policy_;
  /// The same, if several threads share it.
  scheduling::SharablePolicy* shared_policy_ = nullptr;
  Options options_;
  std::vector<ScheduledExecutable> executables_;
  std::vector<Callback> callbacks_;
  std::vector<std::size_t> timer_executables_;
  std::unique_ptr<TimerReleaser> releaser_;

  /// Guards policy_, callbacks_ and the taking of messages.
  std::mutex decision_;
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
