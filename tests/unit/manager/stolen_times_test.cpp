#include "takt/manager/stolen_times.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace takt::manager {
namespace {

using namespace std::chrono_literals;

constexpr Instant moment(std::int64_t count) { return Instant{std::chrono::milliseconds{count}}; }

TEST(StolenTimes, CountWhereAPartOfTheTimeBetweenTwoReadingsDoes) {
  StolenTimes stolen;
  stolen.read(moment(0), 5s);  // what was taken before counts nowhere
  stolen.read(moment(100), 5s);
  stolen.read(moment(200), 5s + 20ms);
  stolen.read(moment(300), 5s + 20ms);
  stolen.read(moment(400), 5s + 50ms);
  EXPECT_EQ(stolen.within(moment(0), moment(100)), 0ms);
  EXPECT_EQ(stolen.within(moment(0), moment(101)), 20ms);
  EXPECT_EQ(stolen.within(moment(199), moment(300)), 20ms);
  EXPECT_EQ(stolen.within(moment(200), moment(300)), 0ms);
  EXPECT_EQ(stolen.within(moment(150), moment(350)), 50ms);
  EXPECT_EQ(stolen.within(moment(400), moment(900)), 0ms);
}

TEST(StolenTimes, OldOnesAreForgotten) {
  StolenTimes stolen;
  for (std::size_t turn = 0; turn <= StolenTimes::most + 1; ++turn) {
    stolen.read(moment(static_cast<std::int64_t>(turn)), 1ms * turn);
  }
  EXPECT_EQ(stolen.within(moment(0), moment(1'000'000)), 1ms * StolenTimes::most);
}

}  // namespace
}  // namespace takt::manager
