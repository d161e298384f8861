#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "arrivals.hpp"
#include "takt/executor/events_executor.hpp"
#include "takt/executor/listening.hpp"
#include "takt/executor/ring.hpp"
#include "takt/executor/timer_releaser.hpp"
#include "takt/scheduling/policy.hpp"
#include "worker.hpp"

namespace takt::executor {

/// What an EventsExecutor runs, what of it waits, and the policy that decides: an executor without
/// threads. One thread at a time.
class Dispatcher {
 public:
  /// Called when messages come for the executable of an entry, on the middleware's threads.
  using Arrived = std::function<void(std::size_t entry, std::size_t count)>;

  /// `workers`: how many jobs run at once. See EventsExecutor::Options for the rest.
  Dispatcher(std::size_t workers, bool own_origin, bool skips_missed_periods)
      : workers_(workers), own_origin_(own_origin), skips_missed_periods_(skips_missed_periods) {}

  // What is run

  /// Runs none but these any more. Jobs of the others may still run: see removed_run().
  [[nodiscard]] Result<void> keep_only(std::span<const ScheduledExecutable> executables);

  /// From now on runs these, which include all that are run now, decided by that policy. Instances
  /// that wait wait on. Allocates.
  [[nodiscard]] Result<void> adopt(std::span<const ScheduledExecutable> executables,
                                   std::unique_ptr<scheduling::Policy> policy,
                                   std::size_t callbacks, const CallbackGroups& groups,
                                   const Arrived& arrived);

  /// Ends the reports of what comes.
  void stop_listening();

  [[nodiscard]] std::vector<TimerReleaser::Watched> timers() const;

  /// Whether a removed executable runs, `but` for one job of that entry.
  [[nodiscard]] bool removed_run(std::optional<std::size_t> but) const;

  // What waits, and what runs next

  /// Makes instances of what came.
  [[nodiscard]] Result<void> admit(const Arrival& arrival);

  [[nodiscard]] std::size_t waiting() const;

  /// Gives the worker a job, unless nothing may run now.
  void give_job(Worker& worker);

  /// The worker's job has run to its end. Whether its executable has been removed meanwhile.
  bool finish(Worker& worker);

  /// When give_job() may find something though nothing comes; none: it does not go by the time.
  [[nodiscard]] std::optional<Instant> next_start() const {
    return policy_goes_by_time_ ? policy_->next_start() : std::nullopt;
  }

  /// Whether several workers share the policy.
  [[nodiscard]] bool is_shared() const { return shared_policy_ != nullptr; }

 private:
  using CallbackIndex = scheduling::CallbackIndex;

  /// A scheduled executable. Entries keep their place, and places of removed ones are used again.
  struct Entry {
    const Executable* executable = nullptr;
    MessageExecutable* messages = nullptr;
    TimerExecutable* timer = nullptr;
    CallbackIndex callback;
    std::size_t running = 0;
    bool is_removed = false;
    Listening listening{};

    [[nodiscard]] bool is_free() const { return executable == nullptr; }
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

  [[nodiscard]] std::vector<Instance> take_waiting();
  void set_policy(std::unique_ptr<scheduling::Policy> policy, std::size_t callbacks,
                  const CallbackGroups& groups);
  [[nodiscard]] Result<void> schedule(const ScheduledExecutable& scheduled, const Arrived& arrived);
  [[nodiscard]] Result<void> admit_messages(const Entry& entry, const Arrival& arrival,
                                            Instance instance);
  void release_new(const Entry& entry, Instance instance);
  void release(CallbackIndex index, const Instance& instance);
  [[nodiscard]] std::optional<CallbackIndex> next_callback();
  void sample();
  void hold_excluded(CallbackIndex callback);
  void resume_excluded(CallbackIndex callback);

  std::size_t workers_;
  bool own_origin_;
  bool skips_missed_periods_;
  std::unique_ptr<scheduling::Policy> policy_;
  /// The same, if several threads share it.
  scheduling::SharablePolicy* shared_policy_ = nullptr;
  bool policy_goes_by_time_ = false;
  bool policy_polls_ = false;
  std::vector<Entry> entries_;
  std::vector<Callback> callbacks_;
  std::uint64_t released_ = 0;
  std::int64_t completed_ = 0;
  /// Counts policies.
  std::uint64_t generation_ = 0;
};

}  // namespace takt::executor
