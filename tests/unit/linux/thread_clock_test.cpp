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

TEST(ThreadClock, TellsAStepOfTheClockFromItsReadingsBeingLate) {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  const Instant start{hours(1)};
  ClockSteps clock;
  EXPECT_FALSE(clock.has_stepped(start, hours(9000), start));
  // Exact readings, then some during which the thread had no processor for 5 ms.
  EXPECT_FALSE(clock.has_stepped(start + hours(1), hours(9001), start + hours(1)));
  EXPECT_FALSE(clock.has_stepped(start + hours(2), hours(9002) + milliseconds(2),
                                 start + hours(2) + milliseconds(5)));
  EXPECT_FALSE(clock.has_stepped(start + hours(3), hours(9003), start + hours(3)));
  // Back by a millisecond, once; then ahead again.
  const Duration behind = hours(9004) - milliseconds(1);
  EXPECT_TRUE(clock.has_stepped(start + hours(4), behind, start + hours(4)));
  EXPECT_FALSE(clock.has_stepped(start + hours(5), behind + hours(1), start + hours(5)));
  EXPECT_TRUE(clock.has_stepped(start + hours(6), hours(9006), start + hours(6)));
}

}  // namespace
}  // namespace takt::linux_os
