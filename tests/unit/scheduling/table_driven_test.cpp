#include "takt/scheduling/table_driven.hpp"

#include <gtest/gtest.h>

#include "virtual_executor.hpp"

namespace takt::scheduling {
namespace {

constexpr LocalIndex a(0), b(1);

/// a in [2,4), b in [4,6) and [8,9), of 10.
const std::vector<TableDrivenPolicy::Slot> slots = {
    {Duration(2), Duration(4), a}, {Duration(4), Duration(6), b}, {Duration(8), Duration(9), b}};

TEST(TableDrivenPolicy, StartsOnlyWithinASlotWhatIsReleased) {
  TableDrivenPolicy policy(2, slots, Duration(10));
  policy.release(a, at(0));
  policy.release(a, at(0));
  policy.release(b, at(0));
  EXPECT_EQ(policy.next(), std::nullopt);
  EXPECT_EQ(policy.next_start(), at(2));
  policy.advance(at(2));
  EXPECT_EQ(policy.next(), a);
  policy.advance(at(3));
  EXPECT_EQ(policy.next(), a);
  EXPECT_EQ(policy.next(), std::nullopt) << "no third instance of a, and b has no slot yet";
  EXPECT_EQ(policy.next_start(), at(4));
  policy.advance(at(7));
  EXPECT_EQ(policy.next(), std::nullopt) << "b's slot is over";
  EXPECT_EQ(policy.next_start(), at(8));
  policy.advance(at(8));
  EXPECT_EQ(policy.next(), b);
}

TEST(TableDrivenPolicy, RepeatsItsTable) {
  TableDrivenPolicy policy(2, slots, Duration(10));
  policy.advance(at(9));
  EXPECT_EQ(policy.next_start(), at(12));
  policy.release(b, at(9));
  policy.advance(at(35));
  EXPECT_EQ(policy.next(), b);
  EXPECT_EQ(policy.next_start(), at(38));
}

}  // namespace
}  // namespace takt::scheduling
