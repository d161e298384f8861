#pragma once

#include "takt/time/time.hpp"

namespace takt::linux_os {

/// Processor time that the calling thread has consumed since it started (CLOCK_THREAD_CPUTIME_ID).
[[nodiscard]] Duration thread_cpu_time();

/// Now on the host's monotonic time line, the one of traces and executors (CLOCK_MONOTONIC).
[[nodiscard]] Instant monotonic_now();

}  // namespace takt::linux_os
