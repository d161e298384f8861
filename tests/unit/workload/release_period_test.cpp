#include "takt/workload/release_period.hpp"

#include <gtest/gtest.h>

namespace takt::workload {
namespace {

TEST(ReleasePeriod, IsThePeriodOrTheLeastSeparation) {
  EXPECT_EQ(
      release_period(model::PeriodicActivation{.period = Duration(50), .jitter = Duration(9)}),
      Duration(50));
  EXPECT_EQ(release_period(
                model::SporadicActivation{.min_separation = Duration(30), .jitter = Duration(0)}),
            Duration(30));
}

TEST(ReleasePeriod, KeepsToEveryDistance) {
  // Three activations may come at once, a fourth 90 later: 30 apart is the densest even spacing.
  const model::MinDistanceActivation burst{
      .values = {Duration(0), Duration(0), Duration(0), Duration(90)}};
  EXPECT_EQ(release_period(burst), Duration(30));
  // 7 / 2 is rounded up.
  const model::MinDistanceActivation odd{.values = {Duration(0), Duration(3), Duration(7)}};
  EXPECT_EQ(release_period(odd), Duration(4));
}

}  // namespace
}  // namespace takt::workload
