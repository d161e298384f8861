#include "takt/linux/stolen_time.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>

namespace takt::linux_os {
namespace {

using namespace std::chrono_literals;

TEST(StolenTime, IsTheEighthFigureOfAllProcessors) {
  const std::string ticks = std::to_string(3 * sysconf(_SC_CLK_TCK));
  EXPECT_EQ(stolen_time_by("cpu  1 2 3 4 5 6 7 " + ticks + " 9 0\ncpu0 0 0 0 0 0 0 0 8\n"), 3s);
}

TEST(StolenTime, IsNothingWhereNobodyCountsIt) {
  EXPECT_EQ(stolen_time_by(""), 0s);
  EXPECT_EQ(stolen_time_by("cpu  1 2 3 4 5 6 7"), 0s);
  EXPECT_EQ(stolen_time_by("cpu0 1 2 3 4 5 6 7 8"), 0s);
}

TEST(StolenTime, NeverDecreases) {
  const Duration before = stolen_time();
  EXPECT_GE(before, 0s);
  EXPECT_GE(stolen_time(), before);
}

}  // namespace
}  // namespace takt::linux_os
