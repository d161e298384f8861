#include "takt/linux/thread_scheduling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "takt/linux/thread_clock.hpp"

namespace takt::linux_os {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;

/// Sets `scheduling` on a thread of its own and says how that thread was scheduled afterwards.
Result<ThreadScheduling> scheduled_as(const ThreadScheduling& scheduling) {
  Result<ThreadScheduling> result;
  std::thread([&] {
    if (const Result<void> set = set_scheduling(0, scheduling); !set) {
      result = tl::unexpected(set.error());
    } else {
      result = get_scheduling(0);
    }
  }).join();
  return result;
}

TEST(ThreadScheduling, BestEffortIsWhatWasSet) {
  const ThreadScheduling nice = OtherScheduling{.nice = 7};
  EXPECT_EQ(scheduled_as(nice).value(), nice);
  EXPECT_STREQ(policy_name(nice), "other");
}

TEST(ThreadScheduling, RealTimePoliciesAreWhatWasSet) {
  const ThreadScheduling fifo = FifoScheduling{.priority = 3};
  const Result<ThreadScheduling> as = scheduled_as(fifo);
  if (!as) GTEST_SKIP() << as.error().message;
  EXPECT_EQ(*as, fifo);
  const ThreadScheduling round_robin = RoundRobinScheduling{.priority = 4};
  EXPECT_EQ(scheduled_as(round_robin).value(), round_robin);
}

TEST(ThreadScheduling, WhetherChildrenInheritItIsWhatWasSet) {
  const ThreadScheduling nice = OtherScheduling{.nice = 7, .resets_on_fork = true};
  EXPECT_EQ(scheduled_as(nice).value(), nice);
  const ThreadScheduling fifo = FifoScheduling{.priority = 3, .resets_on_fork = true};
  const Result<ThreadScheduling> as = scheduled_as(fifo);
  if (!as) GTEST_SKIP() << as.error().message;
  EXPECT_EQ(*as, fifo);
  const ThreadScheduling round_robin = RoundRobinScheduling{.priority = 4, .resets_on_fork = true};
  EXPECT_EQ(scheduled_as(round_robin).value(), round_robin);
}

TEST(ThreadScheduling, ReservationsAreWhatWasSet) {
  if (const Result<void> may = check_deadline_scheduling(); !may)
    GTEST_SKIP() << may.error().message;
  const ThreadScheduling reservation = DeadlineScheduling{
      .runtime = milliseconds(2), .deadline = milliseconds(15), .period = milliseconds(20)};
  EXPECT_EQ(scheduled_as(reservation).value(), reservation);
}

// A thread that wants more than its budget is throttled most of the time, also when it leaves.
TEST(ThreadScheduling, AThrottledThreadThatLeftRunsWhenItComesBack) {
  if (const Result<void> may = check_deadline_scheduling(); !may)
    GTEST_SKIP() << may.error().message;
  std::atomic<pid_t> id = 0;
  std::atomic<std::uint64_t> steps = 0;
  std::atomic<bool> ends = false;
  std::thread busy([&] {
    id = this_thread_id();
    while (!ends) ++steps;
  });
  while (id == 0) std::this_thread::yield();
  const DeadlineScheduling reservation{
      .runtime = microseconds(500), .deadline = milliseconds(5), .period = milliseconds(5)};
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(set_scheduling(id, reservation));
    const std::uint64_t before = steps;
    const auto end = monotonic_now() + std::chrono::seconds(10);
    while (steps == before && monotonic_now() < end) std::this_thread::sleep_for(milliseconds(1));
    EXPECT_GT(steps, before) << "it did not run for 10 s with a tenth of a processor";
    std::this_thread::sleep_for(milliseconds(50));
    ASSERT_TRUE(set_scheduling(id, OtherScheduling{}));
    std::this_thread::sleep_for(milliseconds(400));  // as decisions of the manager are apart
  }
  ends = true;
  busy.join();
}

TEST(ThreadScheduling, AReservationLimitsItsThread) {
  if (const Result<void> may = check_deadline_scheduling(); !may)
    GTEST_SKIP() << may.error().message;
  std::thread([] {
    ASSERT_TRUE(set_scheduling(0, DeadlineScheduling{.runtime = milliseconds(2),
                                                     .deadline = milliseconds(20),
                                                     .period = milliseconds(20)})
                    .has_value());
    const Duration cpu_before = thread_cpu_time();
    const Instant began = monotonic_now();
    while (thread_cpu_time() - cpu_before < milliseconds(10)) {
    }
    // 10 ms of work need five budgets, so at least four whole periods pass before the last one.
    EXPECT_GE(monotonic_now() - began, milliseconds(70));
  }).join();
}

TEST(ThreadScheduling, ThreadsOfAReservationAreBestEffort) {
  if (const Result<void> may = check_deadline_scheduling(); !may) {
    GTEST_SKIP() << may.error().message;
  }
  std::thread([] {
    ASSERT_TRUE(set_scheduling(0, DeadlineScheduling{.runtime = milliseconds(2),
                                                     .deadline = milliseconds(20),
                                                     .period = milliseconds(20)})
                    .has_value());
    std::thread([] { EXPECT_STREQ(policy_name(get_scheduling(0).value()), "other"); }).join();
  }).join();
}

TEST(ThreadScheduling, SaysWhatTheKernelWants) {
  const Result<ThreadScheduling> priority = scheduled_as(FifoScheduling{.priority = 100});
  ASSERT_FALSE(priority.has_value());
  EXPECT_THAT(priority.error().message, HasSubstr("priorities from 1 to 99"));

  const Result<void> missing = set_scheduling(0x3fffffff, OtherScheduling{});
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("there is no such thread"));

  const Result<ThreadScheduling> order = scheduled_as(DeadlineScheduling{
      .runtime = milliseconds(5), .deadline = milliseconds(2), .period = milliseconds(20)});
  ASSERT_FALSE(order.has_value());
  EXPECT_THAT(order.error().message, HasSubstr("runtime <= deadline <= period"));
}

TEST(ThreadScheduling, SaysWhenTheMachineIsFull) {
  if (const Result<void> may = check_deadline_scheduling(); !may)
    GTEST_SKIP() << may.error().message;
  // Threads with 99 % each, until the kernel refuses one; the first ones must stay alive meanwhile.
  std::vector<std::thread> holders;
  std::string refusal;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  for (unsigned i = 0; i <= std::thread::hardware_concurrency(); ++i) {
    bool tried = false;
    holders.emplace_back([&] {
      const Result<void> set =
          set_scheduling(0, DeadlineScheduling{.runtime = microseconds(99000),
                                               .deadline = microseconds(100000),
                                               .period = microseconds(100000)});
      std::unique_lock lock(mutex);
      if (!set) refusal = set.error().message;
      tried = true;
      changed.notify_all();
      changed.wait(lock, [&] { return done; });
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return tried; });
  }
  {
    const std::scoped_lock lock(mutex);
    done = true;
  }
  changed.notify_all();
  for (std::thread& holder : holders) holder.join();
  EXPECT_THAT(refusal, HasSubstr("too little bandwidth left"));
}

}  // namespace
}  // namespace takt::linux_os
