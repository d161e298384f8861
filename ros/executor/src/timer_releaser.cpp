#include "takt/executor/timer_releaser.hpp"

#include <algorithm>

namespace takt::executor {

TimerReleaser::TimerReleaser(std::vector<Timer*> timers, linux_os::ThreadScheduling scheduling,
                             Release release)
    : timers_(std::move(timers)), release_(std::move(release)) {
  for (Timer* timer : timers_) {
    const Result<void> watched = timer->on_start([this] {
      const std::lock_guard lock(mutex_);
      restarted_ = true;
      changed_.notify_one();
    });
    if (!watched && failure_) failure_ = watched;
  }
  thread_ = std::thread([this, scheduling] {
    (void)linux_os::set_scheduling(0, scheduling);
    run();
  });
}

TimerReleaser::~TimerReleaser() {
  for (Timer* timer : timers_) (void)timer->on_start({});
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Result<void> TimerReleaser::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void TimerReleaser::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    restarted_ = false;
    lock.unlock();
    const Result<std::optional<Duration>> next = release_due();
    lock.lock();
    if (!next) {
      failure_ = tl::unexpected(next.error());
      return;
    }
    const auto woken = [this] { return stopping_ || restarted_; };
    if (*next) {
      changed_.wait_for(lock, **next, woken);
    } else {
      changed_.wait(lock, woken);
    }
  }
}

Result<std::optional<Duration>> TimerReleaser::release_due() {
  std::optional<Duration> next;
  for (std::size_t i = 0; i < timers_.size(); ++i) {
    while (true) {
      const Result<std::optional<Duration>> left = timers_[i]->time_until_expiry();
      if (!left) return left;
      if (!*left) break;
      if (**left > Duration{0}) {
        next = std::min(next.value_or(**left), **left);
        break;
      }
      const Result<std::optional<Instant>> expiry = timers_[i]->expire();
      if (!expiry) return tl::unexpected(expiry.error());
      if (*expiry) release_(i, **expiry);
    }
  }
  return next;
}

}  // namespace takt::executor
