#include "takt/executor/waitable.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "ros.hpp"
#include "takt/executor/wait_set_executor.hpp"

namespace takt::executor {
namespace {

using WaitableTest = RosTest;

TEST_F(WaitableTest, RunsOnceForEachTriggerOfAnyThread) {
  constexpr int triggers = 1000;
  std::unique_ptr<WaitSetExecutor> executor;
  int runs = 0;
  const auto waitable = must(Waitable::create(context_, "w", [&] {
    if (++runs == 2 * triggers) executor->cancel();
  }));
  executor = must(WaitSetExecutor::create(context_, {waitable.get()}, TimerHandling::polled));
  const auto trigger = [&] {
    for (int i = 0; i < triggers; ++i) waitable->trigger();
  };
  std::jthread first(trigger);
  std::jthread second(trigger);
  must(executor->spin());
  EXPECT_EQ(runs, 2 * triggers);
}

TEST_F(WaitableTest, AnExecutorSpinsAgainAfterCancel) {
  std::unique_ptr<WaitSetExecutor> executor;
  int runs = 0;
  const auto waitable = must(Waitable::create(context_, "w", [&] {
    ++runs;
    executor->cancel();
  }));
  executor = must(WaitSetExecutor::create(context_, {waitable.get()}, TimerHandling::polled));
  waitable->trigger();
  waitable->trigger();
  must(executor->spin());
  EXPECT_EQ(runs, 1);
  must(executor->spin());
  EXPECT_EQ(runs, 2);
  waitable->trigger();
  must(executor->spin());
  EXPECT_EQ(runs, 3);
}

TEST_F(WaitableTest, AnExecutorCancelledBeforehandRunsNothing) {
  const auto waitable = must(Waitable::create(context_, "w", [] { FAIL(); }));
  waitable->trigger();
  const auto executor =
      must(WaitSetExecutor::create(context_, {waitable.get()}, TimerHandling::polled));
  executor->cancel();
  must(executor->spin());
}

}  // namespace
}  // namespace takt::executor
