#pragma once

#include <optional>
#include <vector>

#include "takt/events/fields.hpp"
#include "takt/events/threads.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/kernel_threads.hpp"
#include "takt/execution/occurrence.hpp"
#include "takt/execution/schedule.hpp"
#include "takt/time/time.hpp"

namespace takt::execution {

/// How long threads have run, by the scheduler's events: the difference between two times is the
/// execution time of performance-engineering 2.7 (Algorithm 3). Also counts the rest of a callback
/// after which no further switch was recorded.
class RunClocks {
 public:
  void on_wakeup(const events::Threads& threads, const Occurrence& at,
                 const tracepoints::SchedWakeup& wakeup);
  void on_switch(const events::Threads& threads, const Occurrence& at,
                 const tracepoints::SchedSwitch& change);

  /// How long the thread, which runs now, has run since its first event here; none if there are no
  /// switches, or if it has a clock of its own.
  [[nodiscard]] std::optional<Duration> now(events::ThreadIndex thread, Instant time);
  /// How the thread has suspended itself since its first event here; none if there are no switches.
  [[nodiscard]] std::optional<Suspended> suspended(events::ThreadIndex thread);
  /// The thread of a number, if it has emitted an event itself.
  [[nodiscard]] std::optional<events::ThreadIndex> thread(const events::Threads& threads,
                                                          events::HostIndex host,
                                                          std::int64_t number) {
    return kernel_threads_.find(threads, host, number);
  }
  /// How the thread is scheduled, as far as switches show it.
  [[nodiscard]] Schedule schedule(const events::Threads& threads, events::ThreadIndex thread) const;

  /// The thread reports its processor time itself. Returns whether now() has given any before.
  bool has_own(events::ThreadIndex thread);
  /// Whether the times of the thread come from here.
  [[nodiscard]] bool serves(events::ThreadIndex thread) const {
    return thread.value() < clocks_.size() && clocks_[thread.value()].is_used;
  }

 private:
  struct Clock {
    Duration total{};
    /// Since when it has been running, if it runs.
    std::optional<Instant> running_since;
    /// Since when it has been suspended, if it is.
    std::optional<Instant> suspended_since;
    Suspended suspended;
    /// The kernel's, at its last switch.
    std::optional<std::int32_t> priority;
    std::uint64_t priority_changes = 0;
    bool has_own = false;
    bool is_used = false;
  };

  /// The thread is ready to run again.
  static void wake(Clock& clock, Instant time);

  KernelThreads kernel_threads_;
  bool has_switches_ = false;
  /// By host: the largest priority of any thread, by which one knows where the tracer's scale
  /// begins.
  std::vector<std::int32_t> largest_priority_;
  std::vector<Clock> clocks_;
};

}  // namespace takt::execution
