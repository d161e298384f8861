#include "takt/linux/thread_clock.hpp"

#include <ctime>
#include <utility>

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

bool ClockSteps::has_stepped() {
  const Instant before = monotonic_now();
  const Duration day = read(CLOCK_REALTIME);
  return has_stepped(before, day, monotonic_now());
}

bool ClockSteps::has_stepped(Instant before, Duration day, Instant after) {
  const Duration former_least = std::exchange(least_, day - after.time_since_epoch());
  const Duration former_greatest = std::exchange(greatest_, day - before.time_since_epoch());
  // Either clock may be rounded to a nanosecond.
  return greatest_ + epsilon < former_least || least_ - epsilon > former_greatest;
}

}  // namespace takt::linux_os
