#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <semaphore>
#include <thread>

#include "ros.hpp"
#include "takt/executor/events_executor.hpp"
#include "takt/executor/waitable.hpp"
#include "takt/scheduling/events.hpp"

// What executors do for an instance is counted in questions to the policy: each wake-up of a thread
// asks at least once, so that a thread that wakes for nothing, or polls, is found here.

namespace takt::executor {
namespace {

using scheduling::LocalIndex;

constexpr int most_runs = 500;

class CountingPolicy final : public scheduling::Policy {
 public:
  explicit CountingPolicy(std::atomic<int>& decisions) : decisions_(decisions) {}

  using Policy::release;
  void release(LocalIndex callback, Instant activation, Instant origin) override {
    policy_.release(callback, activation, origin);
  }
  void hold(LocalIndex callback) override { policy_.hold(callback); }
  void resume(LocalIndex callback) override { policy_.resume(callback); }

 private:
  bool choose(LocalIndex& chosen) override {
    ++decisions_;
    const auto next = policy_.next();
    if (next) chosen = *next;
    return next.has_value();
  }

  scheduling::FifoPolicy policy_{1, most_runs};
  std::atomic<int>& decisions_;
};

class DispatchCount : public RosTest {
 protected:
  void make(std::size_t threads) {
    const ScheduledExecutable scheduled{.executable = waitable_.get(), .callback = LocalIndex(0)};
    executor_ = must(EventsExecutor::create(
        {&scheduled, 1}, std::make_unique<CountingPolicy>(decisions_), 1, {.threads = threads}));
  }

  /// Releases one instance after the other, each when the one before has run.
  void release_one_by_one() {
    for (int i = 0; i < most_runs; ++i) {
      waitable_->trigger();
      ran_.acquire();
    }
  }

  std::atomic<int> decisions_ = 0;
  std::binary_semaphore ran_{0};
  std::unique_ptr<Waitable> waitable_ =
      must(Waitable::create(context_, "w", [this] { ran_.release(); }));
  std::unique_ptr<EventsExecutor> executor_;
};

class InstancesThatWait : public DispatchCount, public testing::WithParamInterface<std::size_t> {};

TEST_P(InstancesThatWait, TakeOneDecisionEach) {
  int left = most_runs;
  waitable_ = must(Waitable::create(context_, "w", [&] {
    if (--left == 0) executor_->cancel();
  }));
  make(GetParam());
  for (int i = 0; i < most_runs; ++i) waitable_->trigger();
  must(executor_->spin());
  // Further threads, which must not run the callback beside the first, ask when they start.
  EXPECT_LE(decisions_, most_runs + static_cast<int>(GetParam()) - 1);
}

INSTANTIATE_TEST_SUITE_P(Threads, InstancesThatWait, testing::Values(1U, 4U));

TEST_F(DispatchCount, OneWakeUpForWhatComesToAThreadThatSleeps) {
  make(1);
  std::jthread spinning([this] { must(executor_->spin()); });
  release_one_by_one();
  executor_->cancel();
  spinning.join();
  // One that finds the instance, one that finds nothing and lets the thread sleep.
  EXPECT_LE(decisions_, 2 * most_runs + 1);
}

TEST_F(DispatchCount, NoMoreThreadsWakeThanInstancesCome) {
  constexpr int threads = 4;
  make(threads);
  std::jthread spinning([this] { must(executor_->spin()); });
  release_one_by_one();
  executor_->cancel();
  spinning.join();
  // Besides, one for a thread that sleeps on, as there is nothing for it.
  EXPECT_LE(decisions_, 3 * most_runs + threads);
}

TEST_F(DispatchCount, WhatARunningJobHoldsUpWakesOneThreadOnce) {
  constexpr int threads = 4;
  std::binary_semaphore goes_on(0);
  int left = most_runs;
  waitable_ = must(Waitable::create(context_, "w", [&] {
    if (left == most_runs) {
      ran_.release();
      goes_on.acquire();
    }
    if (--left == 0) executor_->cancel();
  }));
  make(threads);
  std::jthread spinning([this] { must(executor_->spin()); });
  waitable_->trigger();
  ran_.acquire();
  for (int i = 1; i < most_runs; ++i) {
    waitable_->trigger();
    // Time for a thread to look in vain.
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  // The one that chose the job, what each other thread did before it slept, and one in vain. A
  // thread that wakes late may meet the next arrival: far from one decision for each, though.
  EXPECT_LE(decisions_, most_runs / 10);
  goes_on.release();
  spinning.join();
  EXPECT_EQ(left, 0);
}

TEST_F(DispatchCount, AThreadThatSpinsOnceLeavesToOthersWhatItHeldUp) {
  std::binary_semaphore goes_on(0);
  std::atomic<int> runs = 0;
  waitable_ = must(Waitable::create(context_, "w", [&] {
    if (++runs > 1) return;
    ran_.release();
    goes_on.acquire();
  }));
  make(2);
  const auto spin_once = [this] { EXPECT_TRUE(must(executor_->spin_once(std::nullopt))); };
  std::jthread first(spin_once);
  waitable_->trigger();
  ran_.acquire();
  std::jthread second(spin_once);
  for (int i = 0; i < 3; ++i) {
    waitable_->trigger();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  goes_on.release();
  second.join();
  first.join();
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace takt::executor
