#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "arrivals.hpp"
#include "takt/executor/events_executor.hpp"
#include "takt/executor/listening.hpp"
#include "takt/executor/timer_releaser.hpp"
#include "takt/linux/thread_clock.hpp"
#include "takt/scheduling/dispatch.hpp"
#include "worker.hpp"

namespace takt::executor {

/// What an EventsExecutor runs, and its messages and timers as instances of scheduling::Dispatch:
/// an executor without threads. One thread at a time.
class Dispatcher {
 public:
  /// `arrivals`: where messages that come are noted, on the middleware's threads; `workers`: how
  /// many jobs run at once. See EventsExecutor::Options for the rest.
  Dispatcher(Arrivals& arrivals, std::size_t workers, bool own_origin, MissedExpiries missed)
      : arrivals_(arrivals), dispatch_(workers), own_origin_(own_origin), missed_(missed) {}

  // What is run

  /// See scheduling::Dispatch::check().
  [[nodiscard]] Result<void> check(const scheduling::Policy& policy) const {
    return dispatch_.check(policy);
  }

  /// Runs none but these any more. Jobs of the others may still run: see removed_run().
  [[nodiscard]] Result<void> keep_only(std::span<const ScheduledExecutable> executables);

  /// From now on runs these, which include all that are run now, decided by that policy. Instances
  /// that wait wait on. Allocates.
  [[nodiscard]] Result<void> adopt(std::span<const ScheduledExecutable> executables,
                                   std::unique_ptr<scheduling::Policy> policy,
                                   std::size_t callbacks, const CallbackGroups& groups);

  /// Ends the reports of what comes.
  void stop_listening();

  [[nodiscard]] std::vector<TimerReleaser::Watched> timers() const;

  /// Whether a removed executable runs, `but` for one job for each time that its entry is named.
  [[nodiscard]] bool removed_run(std::span<const std::size_t> but) const;

  // What waits, and what runs next

  /// Makes instances of what came.
  [[nodiscard]] Result<void> admit(std::span<const Arrival> arrivals);

  [[nodiscard]] std::size_t waiting() const { return dispatch_.waiting(); }

  /// Gives the worker a job, unless nothing may run now.
  void give_job(Worker& worker);

  /// The worker's job has run to its end. Whether its executable has been removed meanwhile.
  bool finish(Worker& worker);

  /// See scheduling::Policy::next_start().
  [[nodiscard]] std::optional<Instant> next_start() const { return dispatch_.next_start(); }

  /// Whether nothing that comes there can run until a job ends.
  [[nodiscard]] bool is_held(const Arrival& arrival) const {
    const Entry& entry = entries_[arrival.entry];
    return !entry.is_free() && !entry.is_removed && dispatch_.is_held(entry.callback);
  }

  /// Whether something waits that another worker might run beside what runs.
  [[nodiscard]] bool has_work_for_others() const {
    return dispatch_.threads() > 1 && dispatch_.waiting_beside() > 0;
  }

 private:
  /// A scheduled executable. Entries keep their place, and places of removed ones are used again.
  struct Entry {
    const Executable* executable = nullptr;
    MessageExecutable* messages = nullptr;
    TimerExecutable* timer = nullptr;
    /// What traces call its callback.
    const void* traced = nullptr;
    scheduling::LocalIndex callback;
    /// How many messages stay, see MessageExecutable::room().
    std::size_t room = 0;
    /// Instances that wait: a timer's, or those whose messages stay and, before them, those whose
    /// messages were bound to them under an earlier policy.
    std::size_t staying = 0;
    std::size_t bound = 0;
    std::size_t running = 0;
    bool is_removed = false;
    Listening listening{};

    [[nodiscard]] bool is_free() const { return executable == nullptr; }
  };

  [[nodiscard]] Result<void> schedule(const ScheduledExecutable& scheduled);
  [[nodiscard]] Result<void> let_stay_or_bind(Entry& entry, std::size_t waiting);
  [[nodiscard]] std::size_t count_activated(Entry& entry, const Arrival& arrival);
  [[nodiscard]] Result<void> admit_messages(const Entry& entry, const Arrival& arrival);
  /// The entry of the instance that gave way.
  std::optional<std::size_t> release(const Entry& entry, const Arrival& arrival, Instant origin);
  /// An instance of the entry that was counted as staying waits no longer.
  static void leave(Entry& entry) {
    if (entry.staying > 0) --entry.staying;
  }
  void choose_message(Worker& worker);

  Arrivals& arrivals_;
  scheduling::Dispatch dispatch_;
  bool own_origin_;
  MissedExpiries missed_;
  std::vector<Entry> entries_;
};

// Every instance passes through these functions. GCC would not inline the larger one by itself.

[[gnu::always_inline]] inline void Dispatcher::give_job(Worker& worker) {
  if (dispatch_.goes_by_time()) dispatch_.advance(linux_os::monotonic_now());
  Job& job = worker.job;
  worker.has_job = dispatch_.next(job.chosen);
  if (!worker.has_job) return;
  Entry& entry = entries_[job.entry()];
  ++entry.running;
  job.messages = entry.messages;
  job.timer = entry.timer;
  if (entry.staying > 0 && entry.bound == 0) {
    --entry.staying;
  } else if (job.messages != nullptr) {
    choose_message(worker);
  }
}

inline bool Dispatcher::finish(Worker& worker) {
  worker.has_job = false;
  Entry& entry = entries_[worker.job.entry()];
  --entry.running;
  dispatch_.completed(worker.job.chosen,
                      entry.is_removed ? std::nullopt : std::optional(entry.callback));
  return entry.is_removed;
}

}  // namespace takt::executor
