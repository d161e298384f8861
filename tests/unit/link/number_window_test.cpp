#include "takt/link/number_window.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace takt::link {
namespace {

TEST(NumberWindow, KnowsTheNewestNumbers) {
  NumberWindow window;
  for (const std::uint64_t number : {1U, 3U, 2000U, 1990U}) {
    EXPECT_FALSE(window.seen(number));
    window.add(number);
    EXPECT_TRUE(window.seen(number));
  }
  EXPECT_FALSE(window.seen(1991));
  EXPECT_TRUE(window.seen(2000 - NumberWindow::width)) << "too old to tell";
  EXPECT_EQ(window.highest(), 2000u);
}

TEST(NumberWindow, TheLargestNumberIsOneLikeOthers) {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  NumberWindow window;
  window.add(1);
  window.add(largest);
  EXPECT_TRUE(window.seen(largest));
  EXPECT_FALSE(window.seen(largest - 1));
  EXPECT_EQ(window.highest(), largest);
}

}  // namespace
}  // namespace takt::link
