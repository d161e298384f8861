#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "takt/executor/executable.hpp"
#include "takt/executor/listening.hpp"
#include "takt/linux/thread_clock.hpp"
#include "takt/linux/thread_scheduling.hpp"
#include "takt/scheduling/holdable_heap.hpp"

namespace takt::executor {

/// The thread that releases timers (component-cps 3.4): it sleeps until the next expiry, moves the
/// timer on and reports it. Callbacks that take long delay no release as long as this thread is
/// scheduled before those that run them, and one that it makes late is made up for.
///
/// It keeps timers in the order of their next expiries: a wake-up costs O(log n) for each timer
/// that is due or has been reset, and nothing for the others.
class TimerReleaser {
 public:
  /// A timer, and what it is called in reports.
  struct Watched {
    TimerExecutable* timer = nullptr;
    std::size_t id = 0;
  };

  /// Called on the releaser's thread with when the timer expired, in the order of its expiries.
  using Release = std::function<void(std::size_t id, Instant expiry)>;

  /// Starts the thread, without timers; it is scheduled as the calling one if nothing else is said.
  /// `failed` is called on it once if a timer fails; then no timer is released any more. Error: the
  /// kernel refuses `scheduling`.
  [[nodiscard]] static Result<std::unique_ptr<TimerReleaser>> start(
      const std::optional<linux_os::ThreadScheduling>& scheduling, Release release,
      std::function<void()> failed);

  ~TimerReleaser();
  TimerReleaser(const TimerReleaser&) = delete;
  TimerReleaser& operator=(const TimerReleaser&) = delete;

  /// From now on watches these timers alone, which must outlive this object or the next call. When
  /// it has returned, no other one is released any more. Not from a release.
  [[nodiscard]] Result<void> watch(std::vector<Watched> timers);

  /// Releases what is due, on the calling thread: each timer once, and what it missed. When the
  /// next one expires, none if no timer runs.
  [[nodiscard]] Result<std::optional<Instant>> release_due();

  /// The first error of a timer.
  [[nodiscard]] Result<void> failure() const;

 private:
  /// A timer that tells of its changes.
  struct Known {
    /// In `timers_`.
    scheduling::LocalIndex place{0};
    /// It is among `changed_timers_`.
    bool has_told = false;
    Listening listening{};
  };

  TimerReleaser(Release release, std::function<void()> failed)
      : release_(std::move(release)), failed_(std::move(failed)) {}

  void run();
  void tell(Known& known);
  void wake();
  void forget_others();
  [[nodiscard]] Result<void> listen(const Watched& watched, std::size_t place);
  [[nodiscard]] Result<void> look_at_changed();
  [[nodiscard]] Result<void> look_at_all();
  [[nodiscard]] Result<void> look_at(scheduling::LocalIndex place, Instant earliest);
  [[nodiscard]] Result<void> release(const Watched& watched);

  Release release_;
  std::function<void()> failed_;
  /// Guards the timers; held while they are released.
  std::mutex watching_;
  std::vector<Watched> timers_;
  /// Those that run by when they expire next.
  scheduling::HoldableHeap<Instant> queue_{0};
  std::map<const TimerExecutable*, Known> known_;
  std::vector<Known*> looked_at_;
  linux_os::ClockSteps clock_;
  /// Guards what follows.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  /// Their next expiries may be nearer than they were.
  std::vector<Known*> changed_timers_;
  /// The thread's next expiry may be nearer than it knows.
  bool look_again_ = false;
  bool stopping_ = false;
  Result<void> failure_;
  std::thread thread_;
};

}  // namespace takt::executor
