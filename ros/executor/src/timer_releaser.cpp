#include "takt/executor/timer_releaser.hpp"

#include <algorithm>
#include <utility>

namespace takt::executor {

TimerReleaser::TimerReleaser(linux_os::ThreadScheduling scheduling, Release release)
    : release_(std::move(release)), thread_([this, scheduling] { run(scheduling); }) {}

TimerReleaser::~TimerReleaser() {
  (void)watch({});
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Result<void> TimerReleaser::watch(std::vector<Watched> timers) {
  const std::scoped_lock watching(watching_);
  timers_ = std::move(timers);
  std::erase_if(listening_, [this](const auto& known) {
    return std::ranges::find(timers_, known.first, &Watched::timer) == timers_.end();
  });
  for (const Watched& watched : timers_) {
    TimerExecutable* const timer = watched.timer;
    if (listening_.contains(timer)) continue;
    auto listening = Listening::begin(
        timer->source(), [&] { return timer->on_change([this] { look_again(); }); },
        [timer] { return timer->on_change({}); });
    if (!listening) return tl::unexpected(listening.error());
    listening_.emplace(timer, std::move(*listening));
  }
  look_again();
  return {};
}

Result<void> TimerReleaser::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

void TimerReleaser::look_again() {
  const std::scoped_lock lock(mutex_);
  look_again_ = true;
  changed_.notify_one();
}

void TimerReleaser::run(const linux_os::ThreadScheduling& scheduling) {
  (void)linux_os::set_scheduling(0, scheduling);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    look_again_ = false;
    lock.unlock();
    const Result<std::optional<Duration>> next = release_due();
    lock.lock();
    if (!next) {
      failure_ = tl::unexpected(next.error());
      return;
    }
    const auto woken = [this] { return stopping_ || look_again_; };
    if (*next) {
      changed_.wait_for(lock, **next, woken);
    } else {
      changed_.wait(lock, woken);
    }
  }
}

Result<std::optional<Duration>> TimerReleaser::release_due() {
  const std::scoped_lock watching(watching_);
  std::optional<Duration> next;
  for (const Watched& watched : timers_) {
    Result<std::optional<Duration>> left = watched.timer->time_until_expiry();
    if (left && *left && **left <= Duration{0}) {
      if (const Result<void> released = release(watched); !released) {
        return tl::unexpected(released.error());
      }
      // It may be due again, but others take their turn first.
      left = watched.timer->time_until_expiry();
    }
    if (!left) return left;
    if (*left) next = std::min(next.value_or(**left), **left);
  }
  return next;
}

Result<void> TimerReleaser::release(const Watched& watched) {
  const auto expiry = watched.timer->expire();
  if (!expiry) return tl::unexpected(expiry.error());
  if (!*expiry) return {};
  Instant when = (*expiry)->when;
  for (std::size_t n = 0; n <= std::min((*expiry)->missed, TimerExecutable::most_waiting); ++n) {
    release_(watched.id, when);
    when += (*expiry)->period;
  }
  return {};
}

}  // namespace takt::executor
