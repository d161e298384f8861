#include "takt/executor/expiry_times.hpp"

#include <gtest/gtest.h>

namespace takt::executor {
namespace {

constexpr Duration period{1000};

Instant at(std::int64_t ticks) { return Instant(Duration(ticks)); }

TEST(ExpiryTimes, ExpiriesAreWholePeriodsApartOnTheTimersClock) {
  ExpiryTimes times;
  times.set(at(5000), Duration{70}, period, times.resets());
  times.set(at(7003), Duration{2070}, period, times.resets());
  EXPECT_EQ(times.own(at(5000)), Duration{70});
  EXPECT_EQ(times.own(at(6001)), Duration{1070});
}

TEST(ExpiryTimes, WhatWasBeforeAResetIsVoid) {
  ExpiryTimes times;
  times.set(at(5000), Duration{70}, period, times.resets());
  times.reset();
  EXPECT_EQ(times.own(at(5000)), std::nullopt);
  times.set(at(6500), Duration{1570}, period, times.resets());
  EXPECT_EQ(times.own(at(5000)), std::nullopt);
  EXPECT_EQ(times.own(at(6500)), Duration{1570});
}

/// As if a callback resets the timer while another thread calls it.
TEST(ExpiryTimes, SoIsAnExpiryThatIsKnownOnlyAfterAReset) {
  ExpiryTimes times;
  const std::uint64_t resets = times.resets();
  times.reset();
  times.set(at(5000), Duration{70}, period, resets);
  EXPECT_EQ(times.own(at(5000)), std::nullopt);
}

}  // namespace
}  // namespace takt::executor
