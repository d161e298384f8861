#include "takt/estimation/period_input.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cubic.hpp"

namespace takt::estimation {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The cubic's inputs: physical within 1, in the decision bound within 0.55.
class PeriodInputs : public testing::Test {
 protected:
  double after(std::initializer_list<double> values) {
    for (const double value : values) inputs.take(AnyVector::Constant(1, value));
    return inputs.end_period()(0);
  }

  PeriodInput inputs{Cubic{}.read()};
};

TEST_F(PeriodInputs, TheLastOneCountsAndGoesOn) {
  EXPECT_EQ(after({}), 0) << "the operating point";
  EXPECT_EQ(after({0.1, 0.2}), 0.2);
  EXPECT_EQ(after({}), 0.2);
  EXPECT_EQ(inputs.replaced(), 1U);
}

TEST_F(PeriodInputs, OneOutsideTheDecisionBoundCountsInItsPeriodOnly) {
  EXPECT_EQ(after({0.9, 0}), 0.9);
  EXPECT_EQ(after({}), 0) << "the last one goes on";
  EXPECT_EQ(after({0.1, -0.9, 0.9, 0.2}), 0.9) << "the last one of the worst kind";
  EXPECT_EQ(after({}), 0.2);
  EXPECT_EQ(after({0.3}), 0.3) << "earlier periods do not matter";
  EXPECT_EQ(inputs.replaced(), 4U);
}

TEST_F(PeriodInputs, OneThatCannotOccurIsTheWorst) {
  EXPECT_EQ(after({0.9, 1.5, 0.9}), 1.5);
  EXPECT_EQ(after({}), 0.9);
  EXPECT_TRUE(std::isnan(after({not_a_number, 0.9, 0})));
  EXPECT_EQ(after({}), 0);
}

}  // namespace
}  // namespace takt::estimation
