#include "takt/linux/thread_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace takt::linux_os {
namespace {

TEST(ThreadClock, CountsWorkAndNotSleep) {
  const Instant began = monotonic_now();
  const Duration before_sleep = thread_cpu_time();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Duration slept_cpu = thread_cpu_time() - before_sleep;
  const Duration slept_wall = monotonic_now() - began;
  EXPECT_GE(slept_wall, std::chrono::milliseconds(50));
  EXPECT_LT(slept_cpu, slept_wall / 2);

  const Duration before_work = thread_cpu_time();
  while (thread_cpu_time() - before_work < std::chrono::milliseconds(5)) {
  }
  EXPECT_GE(monotonic_now() - began, slept_wall + std::chrono::milliseconds(4));
}

}  // namespace
}  // namespace takt::linux_os
