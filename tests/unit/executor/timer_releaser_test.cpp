#include "takt/executor/timer_releaser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <deque>
#include <latch>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include "ros.hpp"
#include "takt/executor/thread_settings.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::executor {
namespace {

using linux_os::FifoScheduling;
using linux_os::OtherScheduling;
using linux_os::RoundRobinScheduling;
using linux_os::ThreadScheduling;
using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;

/// A timer that expires when the test says so, and counts who asks for that.
class ToldTimer final : public TimerExecutable {
 public:
  void expire_at(Instant when) {
    std::function<void()> changed;
    {
      const std::scoped_lock lock(mutex_);
      next_ = when;
      changed = changed_;
    }
    if (changed) changed();
  }
  /// As a timer that is cancelled, of which nobody is told, once somebody knows when it expires.
  void expire_at_and_cancel(Instant when) {
    is_cancelled_ = true;
    expire_at(when);
  }
  void fail() {
    fails_ = true;
    expire_at(linux_os::monotonic_now());
  }
  [[nodiscard]] int times_asked() const { return asked_; }

  [[nodiscard]] Result<std::optional<Duration>> time_until_expiry() const override {
    ++asked_;
    if (fails_) return error("the timer is broken");
    const std::scoped_lock lock(mutex_);
    if (!next_) return std::nullopt;
    const Instant next = *next_;
    if (is_cancelled_.exchange(false)) next_.reset();
    return next - linux_os::monotonic_now();
  }
  [[nodiscard]] Result<std::optional<Expiry>> expire() override {
    const std::scoped_lock lock(mutex_);
    if (!next_) return std::nullopt;
    return Expiry{.when = *std::exchange(next_, std::nullopt), .missed = 0, .period = hours(1)};
  }
  [[nodiscard]] Result<void> on_change(std::function<void()> changed) override {
    const std::scoped_lock lock(mutex_);
    changed_ = std::move(changed);
    return {};
  }
  [[nodiscard]] Result<void> run(std::size_t /*worker*/) override { return {}; }

 private:
  mutable std::mutex mutex_;
  mutable std::optional<Instant> next_;
  std::function<void()> changed_;
  mutable std::atomic<int> asked_ = 0;
  std::atomic<bool> fails_ = false;
  mutable std::atomic<bool> is_cancelled_ = false;
};

class TimerReleaserTest : public testing::Test {
 protected:
  void watch(std::size_t timers) {
    timers_.resize(timers);
    releaser_ = must(TimerReleaser::start(
        std::nullopt,
        [this](std::size_t id, Instant) {
          const std::scoped_lock lock(mutex_);
          released_.push_back(id);
        },
        [this] { failed_ = true; }));
    watch_all();
  }

  void watch_all() {
    std::vector<TimerReleaser::Watched> watched;
    for (ToldTimer& timer : timers_) watched.push_back({.timer = &timer, .id = watched.size()});
    must(releaser_->watch(std::move(watched)));
  }

  std::vector<std::size_t> released() {
    const std::scoped_lock lock(mutex_);
    return released_;
  }

  void await_releases(std::size_t count) {
    wait_until([&] { return released().size() >= count; });
  }

  std::deque<ToldTimer> timers_;
  std::mutex mutex_;
  std::vector<std::size_t> released_;
  std::atomic<bool> failed_ = false;
  std::unique_ptr<TimerReleaser> releaser_;
};

TEST_F(TimerReleaserTest, ReleasesInTheOrderOfExpiries) {
  timers_.resize(4);
  const Instant now = linux_os::monotonic_now();
  timers_[2].expire_at(now - hours(3));
  timers_[0].expire_at(now - hours(1));
  timers_[1].expire_at(now - hours(2));
  watch(4);
  await_releases(3);
  EXPECT_THAT(released(), ElementsAre(2, 1, 0));
}

TEST_F(TimerReleaserTest, DoesNotLookAtTimersThatAreNotDue) {
  constexpr std::size_t others = 200;
  watch(1 + others);
  const Instant now = linux_os::monotonic_now();
  for (std::size_t i = 1; i <= others; ++i) timers_[i].expire_at(now + hours(1));
  constexpr std::size_t releases = 50;
  for (std::size_t n = 1; n <= releases; ++n) {
    timers_[0].expire_at(linux_os::monotonic_now());
    await_releases(n);
  }
  // Each of them when it was watched, and when it was told when it expires.
  for (std::size_t i = 1; i <= others; ++i) EXPECT_LE(timers_[i].times_asked(), 3) << i;
}

TEST_F(TimerReleaserTest, AnExpiryThatComesNearerOrGoesIsNoticed) {
  watch(3);
  const Instant now = linux_os::monotonic_now();
  timers_[0].expire_at(now + hours(1));
  timers_[1].expire_at_and_cancel(now + milliseconds(5));
  timers_[2].expire_at(now + milliseconds(10));
  await_releases(1);
  timers_[0].expire_at(now);
  await_releases(2);
  EXPECT_THAT(released(), ElementsAre(2, 0));
  timers_[1].expire_at(now);
  await_releases(3);
  EXPECT_EQ(released().back(), 1U);
}

TEST_F(TimerReleaserTest, WatchedAnewTimersKeepTheirExpiriesAndOthersAreLetGo) {
  watch(3);
  const Instant now = linux_os::monotonic_now();
  for (ToldTimer& timer : timers_) timer.expire_at(now + hours(1));
  must(releaser_->watch({{.timer = &timers_[2], .id = 7}}));
  timers_[2].expire_at(now);
  await_releases(1);
  EXPECT_THAT(released(), ElementsAre(7));
  // Nobody listens to them any more.
  timers_[0].expire_at(now);
  (void)must(releaser_->release_due());
  EXPECT_EQ(released().size(), 1U);
  watch_all();
  await_releases(2);
  EXPECT_EQ(released().back(), 0U);
  timers_[1].expire_at(now);
  await_releases(3);
}

TEST_F(TimerReleaserTest, WhatAnotherThreadLooksAtFirstIsReleasedInTime) {
  watch(2);
  const Instant now = linux_os::monotonic_now();
  timers_[0].expire_at(now + hours(1));
  for (std::size_t n = 1; n <= 200; ++n) {
    // It may take the change from the releaser's thread, which sleeps for an hour.
    timers_[1].expire_at(linux_os::monotonic_now() + std::chrono::microseconds(300));
    (void)must(releaser_->release_due());
    await_releases(n);
  }
}

TEST_F(TimerReleaserTest, AFailingTimerIsReported) {
  watch(2);
  timers_[1].fail();
  wait_until([&] { return failed_.load(); });
  EXPECT_THAT(releaser_->failure().error().message, testing::HasSubstr("the timer is broken"));
}

TEST(ReleaserPriority, IsAboveWhatItReleases) {
  EXPECT_EQ(before(OtherScheduling{.nice = 5}), ThreadScheduling(OtherScheduling{}));
  EXPECT_EQ(before(FifoScheduling{.priority = 40}),
            ThreadScheduling(FifoScheduling{.priority = 41}));
  EXPECT_EQ(before(RoundRobinScheduling{.priority = 40}),
            ThreadScheduling(FifoScheduling{.priority = 41}));
  EXPECT_EQ(before(FifoScheduling{.priority = 99}),
            ThreadScheduling(FifoScheduling{.priority = 99}));
  const linux_os::DeadlineScheduling reservation{
      .runtime = milliseconds(1), .deadline = milliseconds(5), .period = milliseconds(5)};
  EXPECT_EQ(before(reservation), ThreadScheduling(FifoScheduling{.priority = 90}));
}

/// A thread with a name, until the test ends.
class Named {
 public:
  explicit Named(const char* name) {
    std::latch named{1};
    thread_ = std::jthread([&, name](const std::stop_token& stop) {
      pthread_setname_np(pthread_self(), name);
      number_ = linux_os::this_thread_id();
      named.count_down();
      while (!stop.stop_requested()) std::this_thread::sleep_for(milliseconds(1));
    });
    named.wait();
  }
  [[nodiscard]] ThreadScheduling scheduling() const {
    return must(linux_os::get_scheduling(number_));
  }
  /// Whoever runs the test may have made it nice.
  [[nodiscard]] bool is_at_best_effort() const {
    return std::holds_alternative<OtherScheduling>(scheduling());
  }

 private:
  pid_t number_ = 0;
  std::jthread thread_;
};

TEST(MiddlewarePriority, WhatDeliversMessagesComesFirstAndChoresDoNot) {
  if (const auto may = linux_os::check_scheduling(FifoScheduling{.priority = 41}); !may) {
    GTEST_SKIP() << may.error().message;
  }
  const Named delivers("dds.shm.7411");
  const Named chore("dds.ev.7411");
  const Named other("worker");
  must(deliver_before(OtherScheduling{.nice = -5}));
  EXPECT_TRUE(delivers.is_at_best_effort());
  must(deliver_before(FifoScheduling{.priority = 40}));
  EXPECT_EQ(delivers.scheduling(), ThreadScheduling(FifoScheduling{.priority = 41}));
  EXPECT_TRUE(chore.is_at_best_effort());
  EXPECT_TRUE(other.is_at_best_effort());
  // Another executor of a lower priority takes nothing away.
  must(deliver_before(RoundRobinScheduling{.priority = 3}));
  EXPECT_EQ(delivers.scheduling(), ThreadScheduling(FifoScheduling{.priority = 41}));
}

}  // namespace
}  // namespace takt::executor
