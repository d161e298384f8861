#include "takt/linux/thread_clock.hpp"

#include <ctime>

namespace takt::linux_os {
namespace {

Duration read(clockid_t clock) {
  // Cannot fail: both clocks exist on every kernel that this builds for.
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Duration thread_cpu_time() { return read(CLOCK_THREAD_CPUTIME_ID); }

Instant monotonic_now() { return Instant(read(CLOCK_MONOTONIC)); }

}  // namespace takt::linux_os
