#include "takt/linux/punctual.hpp"

#include <gtest/gtest.h>

namespace takt::linux_os {
namespace {

TEST(Punctual, WaitsCostAFiftiethAtMost) {
  EXPECT_EQ(wakes_ahead(Duration{1'000'000'000}), Duration{200'000});
  EXPECT_EQ(wakes_ahead(Duration{10'000'000}), Duration{200'000});
  EXPECT_EQ(wakes_ahead(Duration{1'000'000}), Duration{20'000});
  EXPECT_EQ(wakes_ahead(Duration{0}), Duration{0});
  EXPECT_EQ(wakes_ahead(Duration{-1}), Duration{0}) << "what is due already";
}

TEST(Punctual, PollsUntilTheInstantAndNotBeyondWhatItIsToldToStopAt) {
  const Instant due = monotonic_now() + Duration{1'000'000};
  poll_until(due, [] { return false; });
  EXPECT_GE(monotonic_now(), due);
  int asked = 0;
  poll_until(Instant::max(), [&] { return ++asked == 3; });
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace takt::linux_os
