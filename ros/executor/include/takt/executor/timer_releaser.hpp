#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "takt/executor/executable.hpp"
#include "takt/executor/listening.hpp"
#include "takt/linux/thread_scheduling.hpp"

namespace takt::executor {

/// The thread that releases timers (component-cps 3.4): it sleeps until the next expiry, moves the
/// timer on and reports it. Callbacks that take long delay no release as long as this thread is
/// scheduled before those that run them, and one that it makes late is made up for.
class TimerReleaser {
 public:
  /// A timer, and what it is called in reports.
  struct Watched {
    TimerExecutable* timer = nullptr;
    std::size_t id = 0;
  };

  /// Called on the releaser's thread with when the timer expired, in the order of its expiries.
  using Release = std::function<void(std::size_t id, Instant expiry)>;

  /// Starts the thread, without timers. If the kernel refuses `scheduling`, it runs as best effort.
  TimerReleaser(linux_os::ThreadScheduling scheduling, Release release);

  ~TimerReleaser();
  TimerReleaser(const TimerReleaser&) = delete;
  TimerReleaser& operator=(const TimerReleaser&) = delete;

  /// From now on watches these timers alone, which must outlive this object or the next call. When
  /// it has returned, no other one is released any more. Not from a release.
  [[nodiscard]] Result<void> watch(std::vector<Watched> timers);

  /// Releases what is due, on the calling thread: each timer once, and what it missed. The time
  /// until the next expiry, none if no timer runs.
  [[nodiscard]] Result<std::optional<Duration>> release_due();

  /// The first error of a timer.
  [[nodiscard]] Result<void> failure() const;

 private:
  void run(const linux_os::ThreadScheduling& scheduling);
  void look_again();
  [[nodiscard]] Result<void> release(const Watched& watched);

  Release release_;
  /// Guards the timers; held while they are released.
  std::mutex watching_;
  std::vector<Watched> timers_;
  /// To their changes.
  std::map<const TimerExecutable*, Listening> listening_;
  /// Guards what follows.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  /// The next expiry may be nearer than it was.
  bool look_again_ = false;
  bool stopping_ = false;
  Result<void> failure_;
  std::thread thread_;
};

}  // namespace takt::executor
