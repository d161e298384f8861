#include "takt/linux/admission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace takt::linux_os {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

DeadlineScheduling reservation(Duration budget, Duration period) {
  return {.runtime = budget, .deadline = period, .period = period};
}

TEST(GfbTest, HoldsExactlyUpToItsLimit) {
  // m = 2, largest 0.5: the limit is 2 - 0.5 = 1.5.
  const std::vector<DeadlineScheduling> at_limit(3, reservation(milliseconds(5), milliseconds(10)));
  const GfbTest exact = gfb_test(at_limit, 2);
  EXPECT_DOUBLE_EQ(exact.total, 1.5);
  EXPECT_DOUBLE_EQ(exact.largest, 0.5);
  EXPECT_DOUBLE_EQ(exact.limit, 1.5);
  EXPECT_TRUE(exact.holds);

  std::vector<DeadlineScheduling> above = at_limit;
  above.push_back(reservation(nanoseconds(1000), milliseconds(10)));
  EXPECT_FALSE(gfb_test(above, 2).holds);
}

TEST(GfbTest, RejectsDhallsEffect) {
  // One heavy reservation and many light ones: total 1.1 on two processors is not enough of a
  // proof.
  const std::vector<DeadlineScheduling> dhall = {reservation(milliseconds(10), milliseconds(10)),
                                                 reservation(milliseconds(1), milliseconds(10))};
  EXPECT_FALSE(gfb_test(dhall, 2).holds);
}

TEST(GfbTest, IsTheUtilisationTestOnOneProcessor) {
  const std::vector<DeadlineScheduling> full = {reservation(milliseconds(7), milliseconds(10)),
                                                reservation(milliseconds(3), milliseconds(10))};
  EXPECT_TRUE(gfb_test(full, 1).holds);
}

TEST(GfbTest, CountsConstrainedDeadlinesByTheirDensity) {
  const std::vector<DeadlineScheduling> constrained = {
      {.runtime = milliseconds(2), .deadline = milliseconds(4), .period = milliseconds(10)}};
  EXPECT_DOUBLE_EQ(gfb_test(constrained, 1).total, 0.5);
}

TEST(GfbTest, HoldsForNothing) { EXPECT_TRUE(gfb_test({}, 2).holds); }

TEST(KernelAdmission, RefusesMoreThanTheMachine) {
  const std::vector<DeadlineScheduling> too_much(3, reservation(milliseconds(9), milliseconds(10)));
  const Result<void> refused = check_kernel_admission(too_much, 2);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, testing::StartsWith("the reservations ask for 270.0 %"));
  EXPECT_TRUE(check_kernel_admission({}, 2).has_value());
}

TEST(KernelAdmission, LeavesAllOtherThreadsWhatTheKernelReservesForThem) {
  const Result<double> share = deadline_share();
  ASSERT_TRUE(share.has_value()) << share.error().message;
  const auto of_each = [](double part) {
    const auto budget = static_cast<std::int64_t>(part * 10e6);
    return std::vector<DeadlineScheduling>(2, reservation(nanoseconds(budget), milliseconds(10)));
  };
  EXPECT_TRUE(check_kernel_admission(of_each(*share), 2).has_value());
  EXPECT_FALSE(check_kernel_admission(of_each(*share + 0.01), 2).has_value());
}

TEST(KernelAdmission, GrantsAShareOfEachProcessor) {
  const Result<double> share = realtime_share();
  ASSERT_TRUE(share.has_value()) << share.error().message;
  EXPECT_GE(*share, 0.0);
  EXPECT_LE(*share, 1.0);
}

}  // namespace
}  // namespace takt::linux_os
