#include "arrivals.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>

namespace takt::executor {
namespace {

/// A worker that was idle, and for which who has taken it finds no job.
class TakenInVain : public testing::Test {
 protected:
  TakenInVain() {
    EXPECT_TRUE(arrivals_.become_idle(worker_, arrivals_.interruptions()));
    EXPECT_EQ(arrivals_.take_idle(), &worker_);
  }

  Arrivals arrivals_{1};
  Worker worker_{};
};

TEST_F(TakenInVain, IsIdleAgain) {
  arrivals_.hand_back(worker_);
  EXPECT_EQ(arrivals_.take_idle(), &worker_);
}

TEST_F(TakenInVain, HearsOfACancellationMeanwhile) {
  arrivals_.cancel();
  arrivals_.hand_back(worker_);
  ASSERT_EQ(arrivals_.take_idle(), nullptr) << "it would sleep on";
  arrivals_.sleep(worker_, std::nullopt, false);
}

TEST_F(TakenInVain, HearsOfAnInterruptionMeanwhile) {
  arrivals_.interrupt();
  arrivals_.hand_back(worker_);
  ASSERT_EQ(arrivals_.take_idle(), nullptr) << "it would sleep on";
  arrivals_.sleep(worker_, std::nullopt, false);
}

TEST_F(TakenInVain, SleepsNoLongerThanItWasTo) {
  constexpr Arrivals::TimePoint past{};
  auto slept =
      std::async(std::launch::async, [&] { arrivals_.sleep(worker_, past, /*exactly=*/false); });
  // Mostly it has woken by then and waits for who has taken it.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  arrivals_.hand_back(worker_);
  const bool ended = slept.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  arrivals_.interrupt();  // ends it in any case
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace takt::executor
