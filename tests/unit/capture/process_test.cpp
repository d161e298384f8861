#include "process.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace takt::capture {
namespace {

/// Threads end while they are looked at: none of them is then said to be of another policy.
TEST(Process, AThreadThatEndsIsScheduledAsItWasOrNotAtAll) {
  int known = 0;
  for (int round = 0; round < 300; ++round) {
    std::atomic<pid_t> number = 0;
    std::atomic<bool> looks = false;
    const std::jthread thread([&] {
      const sched_param none{};
      ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
      number = gettid();
      looks.wait(false);
    });
    while (number == 0) std::this_thread::yield();
    looks = true;
    looks.notify_one();
    for (auto found = scheduling_of(number); found; found = scheduling_of(number)) {
      ASSERT_EQ(found->policy, SCHED_BATCH);
      ++known;
    }
  }
  EXPECT_GT(known, 0);
}

}  // namespace
}  // namespace takt::capture
