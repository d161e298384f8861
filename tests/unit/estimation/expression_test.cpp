#include "takt/estimation/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace takt::estimation {
namespace {

using testing::HasSubstr;

/// The value at x = 3, y = -2, with a = 0.5.
double value(const std::string& text) {
  Formulas formulas({"x", "y"}, {{"a", 0.5}});
  const auto added = formulas.add(text, "f");
  EXPECT_TRUE(added) << text << ": " << added.error().message;
  std::vector<double> registers(formulas.registers());
  const std::array<double, 2> variables{3, -2};
  double result = 0;
  formulas.evaluate(variables.data(), registers.data(), &result);
  return result;
}

std::string fault(const std::string& text) {
  Formulas formulas({"x", "y"}, {{"a", 0.5}});
  const auto added = formulas.add(text, "f");
  return added ? "" : added.error().message;
}

TEST(Expression, FollowsTheRulesOfSymPy) {
  EXPECT_EQ(value("1 + 2*x"), 7);
  EXPECT_EQ(value("x - y - 1"), 4);
  EXPECT_EQ(value("12/x/2"), 2);
  EXPECT_EQ(value("-x**2"), -9);
  EXPECT_EQ(value("(-x)**2"), 9);
  EXPECT_EQ(value("2**x**y"), std::pow(2, std::pow(3, -2)));
  EXPECT_EQ(value("x**-1"), 1.0 / 3);
  EXPECT_EQ(value("x**(-2)"), 1.0 / 9);
  EXPECT_EQ(value("x**3"), 27);
  EXPECT_EQ(value("y**4"), 16);
  EXPECT_EQ(value("x**(1/2)"), std::sqrt(3));
  EXPECT_EQ(value("x**1.5"), std::pow(3, 1.5));
  EXPECT_EQ(value("x**y"), std::pow(3, -2));
  EXPECT_EQ(value("x*-y"), 6);
  EXPECT_EQ(value("a*1.0e-3 + 1E2 + 0.25"), 0.5 * 1e-3 + 100 + 0.25);
  EXPECT_EQ(value("2*pi*E"), 2 * M_PI * M_E);
}

TEST(Expression, KnowsTheFunctions) {
  EXPECT_EQ(value("sin(x) + cos(x) + tan(x)"), std::sin(3) + std::cos(3) + std::tan(3));
  EXPECT_EQ(value("asin(a) + acos(a) + atan(a)"), std::asin(0.5) + std::acos(0.5) + std::atan(0.5));
  EXPECT_EQ(value("sinh(a) + cosh(a) + tanh(a)"), std::sinh(0.5) + std::cosh(0.5) + std::tanh(0.5));
  EXPECT_EQ(value("asinh(x) + acosh(x) + atanh(a)"),
            std::asinh(3) + std::acosh(3) + std::atanh(0.5));
  EXPECT_EQ(value("exp(y) + log(x) + sqrt(x)"), std::exp(-2) + std::log(3) + std::sqrt(3));
  EXPECT_EQ(value("Abs(y) + 10*sign(y) + 100*Heaviside(x)"), 2 - 10 + 100);
  EXPECT_EQ(value("sign(x - 3) + Heaviside(x - 3)"), 0.5);
  EXPECT_EQ(value("atan2(y, x)"), std::atan2(-2, 3));
  EXPECT_EQ(value("Min(x, y, 7) + 10*Max(a, y, 1)"), 8);
  EXPECT_TRUE(std::isnan(value("Min(x, sqrt(y))")));
  EXPECT_TRUE(std::isnan(value("Max(sqrt(y), x)")));
}

TEST(Expression, SaysWhereItIsWrong) {
  EXPECT_THAT(fault(""), HasSubstr("ends too early"));
  EXPECT_THAT(fault("x +"), HasSubstr("ends too early"));
  EXPECT_THAT(fault("x + z"), HasSubstr("character 5: \"z\" is no state, input or parameter"));
  EXPECT_THAT(fault("system(x)"), HasSubstr("no function"));
  EXPECT_THAT(fault("sin(x, y)"), HasSubstr("arguments"));
  EXPECT_THAT(fault("atan2(x)"), HasSubstr("arguments"));
  EXPECT_THAT(fault("atan2(x, y, 1)"), HasSubstr("arguments"));
  EXPECT_THAT(fault("Min(x)"), HasSubstr("arguments"));
  EXPECT_THAT(fault("(x"), HasSubstr("\")\" expected"));
  EXPECT_THAT(fault("x)"), HasSubstr("unexpected \")\""));
  EXPECT_THAT(fault("x y"), HasSubstr("unexpected"));
  EXPECT_THAT(fault("2x"), HasSubstr("followed by"));
  EXPECT_THAT(fault("1.2.3"), HasSubstr("followed by"));
  EXPECT_THAT(fault(".5"), HasSubstr("unexpected"));
  EXPECT_THAT(fault("1e999"), HasSubstr("too large"));
  EXPECT_THAT(fault("x; y"), HasSubstr("unexpected"));
  EXPECT_THAT(fault("x\xff"), HasSubstr("f: character 2"));
  EXPECT_THAT(fault(std::string(500, '(') + "x" + std::string(500, ')')), HasSubstr("levels"));
  EXPECT_THAT(fault(std::string(500, '-') + "x"), HasSubstr("levels"));
  EXPECT_THAT(fault(std::string(70000, ' ') + "x"), HasSubstr("longer"));
  EXPECT_EQ(fault(std::string(100, '(') + "x" + std::string(100, ')')), "");
}

TEST(Expression, EvaluatesEqualPartsOnce) {
  Formulas formulas({"x"}, {});
  ASSERT_TRUE(formulas.add("sin(x)*cos(x)", "f"));
  const std::size_t once = formulas.registers();
  ASSERT_TRUE(formulas.add("sin(x)*cos(x) + 0*1", "f"));
  // A sum and the constant that 0*1 is, with its factors.
  EXPECT_LE(formulas.registers(), once + 3);
}

}  // namespace
}  // namespace takt::estimation
