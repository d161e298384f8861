#include "takt/memory/pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace takt::memory {
namespace {

TEST(Pool, SlotsAreApartAndLargeEnough) {
  Pool pool;
  std::set<const std::byte*> starts;
  std::vector<std::pair<const std::byte*, const std::byte*>> taken;
  for (const std::size_t bytes : {1UL, 4096UL, 4097UL, 100'000UL, 1UL, 5'000UL, 70'000UL, 4096UL}) {
    const auto slot = pool.take(bytes);
    ASSERT_TRUE(slot.has_value());
    const auto place = pool.place(*slot);
    EXPECT_GE(place.bytes.size(), bytes);
    const std::byte* const end = place.bytes.data() + place.bytes.size();
    for (const auto& [from, to] : taken) EXPECT_TRUE(end <= from || place.bytes.data() >= to);
    taken.emplace_back(place.bytes.data(), end);
  }
  EXPECT_EQ(pool.slots_in_use(), taken.size());
}

TEST(Pool, ASlotIsFreeAfterItsLastUse) {
  Pool pool;
  const auto slot = pool.take(100);
  pool.use_again(*slot);
  pool.give_back(*slot);
  EXPECT_NE(pool.take(100), slot);
  pool.give_back(*slot);
  EXPECT_EQ(pool.take(100), slot);
}

TEST(Pool, DoesNotGrowWhereSlotsComeBack) {
  Pool pool;
  for (int round = 0; round < 1'000; ++round) {
    const auto one = pool.take(1 << 20);
    const auto two = pool.take(1 << 20);
    pool.give_back(*one);
    pool.give_back(*two);
  }
  EXPECT_LE(pool.bytes(), 2U << 20);
  EXPECT_EQ(pool.slots_in_use(), 0U);
}

TEST(Pool, ManySlotsAreInFewBlocks) {
  Pool pool;
  for (int index = 0; index < 4'000; ++index) ASSERT_TRUE(pool.take(5'000).has_value());
  EXPECT_LE(pool.blocks(), 12U);  // 8 slots, and then twice as many with each block
}

TEST(Pool, RefusesWhatTheMachineCannotHave) {
  Pool pool;
  EXPECT_FALSE(pool.take(std::size_t{1} << 60).has_value());
  EXPECT_FALSE(pool.take(~std::size_t{0}).has_value());
  EXPECT_TRUE(pool.take(1).has_value());
}

}  // namespace
}  // namespace takt::memory
