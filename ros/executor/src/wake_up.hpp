#pragma once

#include <semaphore.h>

#include <cerrno>
#include <chrono>
#include <ctime>

namespace takt::executor {

/// Lets one thread sleep until another one signals it. Each signal ends one sleep, also one that
/// begins after it. A semaphore of the C library: a thread that it wakes runs on at once, where a
/// condition variable lets it first take the lock that goes with it.
class WakeUp {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  WakeUp() { sem_init(&semaphore_, 0, 0); }
  ~WakeUp() { sem_destroy(&semaphore_); }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  void signal() { sem_post(&semaphore_); }

  void wait() {
    while (sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
  }

  /// False: there was no signal until then.
  [[nodiscard]] bool wait_until(TimePoint until) {
    const auto since_zero = until.time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_zero);
    const timespec time{.tv_sec = seconds.count(), .tv_nsec = (since_zero - seconds).count()};
    // The steady clock is CLOCK_MONOTONIC.
    while (sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &time) != 0) {
      if (errno != EINTR) return false;
    }
    return true;
  }

 private:
  sem_t semaphore_{};
};

}  // namespace takt::executor
