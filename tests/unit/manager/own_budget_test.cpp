#include "own_budget.hpp"

#include <gtest/gtest.h>

namespace takt::manager {
namespace {

using namespace std::chrono_literals;

/// Decides once in `period` if that is affordable, for 10 minutes, with this cost each time.
Duration used_in_ten_minutes(Duration cost, Duration period, bool is_urgent) {
  OwnBudget budget;
  Duration used{};
  for (Instant now{1s}; now < Instant{601s}; now += period) {
    budget.account(now, used);
    if (!budget.affords(is_urgent)) continue;
    used += cost;
    budget.decided(cost);
  }
  return used;
}

TEST(OwnBudget, IsNotInTheWayOfWhatCostsLess) {
  EXPECT_EQ(used_in_ten_minutes(50ms, 6s, false), 100 * 50ms);
}

TEST(OwnBudget, SpendsAHundredthAtMostBesideOneMinuteAndOneDecision) {
  for (const Duration cost : {10ms, 300ms, 2000ms}) {
    EXPECT_LE(used_in_ten_minutes(cost, 100ms, false), 6s + OwnBudget::saved + cost);
    EXPECT_LE(used_in_ten_minutes(cost, 100ms, true), 6s + 2 * OwnBudget::saved + cost);
    EXPECT_GE(used_in_ten_minutes(cost, 100ms, false), 6s - cost);
  }
}

TEST(OwnBudget, WhatReadingCostsIsNotOwedForEver) {
  OwnBudget budget;
  Duration used{};
  Instant now{1s};
  for (; now < Instant{3601s}; now += 1s) budget.account(now, used += 50ms);
  EXPECT_FALSE(budget.affords(true));
  for (; now < Instant{3661s}; now += 1s) budget.account(now, used);
  EXPECT_TRUE(budget.affords(true));
  for (; now < Instant{3722s}; now += 1s) budget.account(now, used);
  EXPECT_TRUE(budget.affords(false));
}

}  // namespace
}  // namespace takt::manager
