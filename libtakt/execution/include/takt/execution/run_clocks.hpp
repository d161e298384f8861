#pragma once

#include <optional>
#include <vector>

#include "takt/events/fields.hpp"
#include "takt/events/threads.hpp"
#include "takt/execution/kernel_threads.hpp"
#include "takt/execution/occurrence.hpp"
#include "takt/time/time.hpp"

namespace takt::execution {

/// How long threads have run, by the scheduler's events: the difference between two times is the
/// execution time of performance-engineering 2.7 (Algorithm 3). Also counts the rest of a callback
/// after which no further switch was recorded.
class RunClocks {
 public:
  void on_switch(const events::Threads& threads, const Occurrence& at,
                 const tracepoints::SchedSwitch& change);

  /// How long the thread, which runs now, has run since its first event here; none if there are no
  /// switches, or if it has a clock of its own.
  [[nodiscard]] std::optional<Duration> now(events::ThreadIndex thread, Instant time);
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
    bool has_own = false;
    bool is_used = false;
  };

  KernelThreads kernel_threads_;
  bool has_switches_ = false;
  std::vector<Clock> clocks_;
};

}  // namespace takt::execution
