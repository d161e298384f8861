#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "takt/executor/timer.hpp"
#include "takt/linux/thread_scheduling.hpp"

namespace takt::executor {

/// The thread that releases timers (component-cps 3.4): it sleeps until the next expiry, moves the
/// timer on and reports it. Callbacks that take long delay no release as long as this thread is
/// scheduled before those that run them.
class TimerReleaser {
 public:
  /// Called on the releaser's thread with the timer's position in the list and when it expired.
  using Release = std::function<void(std::size_t timer, Instant expiry)>;

  /// Starts the thread. The timers must outlive this object. If the kernel refuses `scheduling`,
  /// the thread runs as best effort.
  TimerReleaser(std::vector<Timer*> timers, linux_os::ThreadScheduling scheduling, Release release);

  ~TimerReleaser();
  TimerReleaser(const TimerReleaser&) = delete;
  TimerReleaser& operator=(const TimerReleaser&) = delete;

  /// The first error of a timer.
  [[nodiscard]] Result<void> failure() const;

 private:
  void run();
  /// Releases what is due; the time until the next expiry, none if no timer runs.
  [[nodiscard]] Result<std::optional<Duration>> release_due();

  std::vector<Timer*> timers_;
  Release release_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  /// A timer was started, and its next expiry may be the earliest.
  bool restarted_ = false;
  bool stopping_ = false;
  Result<void> failure_;
  std::thread thread_;
};

}  // namespace takt::executor
