#pragma once

#include "takt/time/time.hpp"

namespace takt::linux_os {

/// Processor time that the calling thread has consumed since it started (CLOCK_THREAD_CPUTIME_ID).
[[nodiscard]] Duration thread_cpu_time();

/// Now on the host's monotonic time line, the one of traces and executors (CLOCK_MONOTONIC).
[[nodiscard]] Instant monotonic_now();

/// Notices when somebody sets the host's clock of the day (CLOCK_REALTIME), or the host was
/// suspended: what waits for a time of the day then waits for too long. Corrections of the clock's
/// rate are no steps, as the monotonic time line follows them. Three readings of a clock each time.
class ClockSteps {
 public:
  /// Whether the clock has been set since the last call; false the first time.
  [[nodiscard]] bool has_stepped();

  /// The same for readings that somebody else made: of the day, between those of the other line.
  [[nodiscard]] bool has_stepped(Instant before, Duration day, Instant after);

 private:
  /// The difference of both clocks lies between these.
  Duration least_ = Duration::min();
  Duration greatest_ = Duration::max();
};

}  // namespace takt::linux_os
