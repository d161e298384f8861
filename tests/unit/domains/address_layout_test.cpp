#include "takt/domains/address_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <random>
#include <vector>

namespace takt::domains {
namespace {

using testing::HasSubstr;

TEST(AddressLayout, A3_APoolBeginsAtTheDevicesUnit) {
  const AddressLayout layout{
      .own = 0x1000, .shared = 0x3000, .device = 0x200000, .device_unit = 0x200000};
  EXPECT_EQ(layout.place(0x10000000), 0x101FC000U);
  EXPECT_EQ(*layout.place(0x10000000) + layout.own + layout.shared, 0x10200000U);
}

TEST(AddressLayout, A4_UnitsMayDiffer) {
  const AddressLayout layout{.own = 0x1000,
                             .shared = 0x10000,
                             .device = 0x10000,
                             .shared_unit = 0x4000,
                             .device_unit = 0x10000};
  const auto at = layout.place(0x7f3a12345000);
  EXPECT_EQ(at, 0x7f3a1234f000U);
  EXPECT_EQ(*at + layout.own, 0x7f3a12350000U);
  EXPECT_EQ(*at + layout.own + layout.shared, 0x7f3a12360000U);
}

TEST(AddressLayout, A5_EveryPlaceIsWithinItsReservation) {
  std::mt19937_64 random(1);
  for (int step = 0; step < 10'000; ++step) {
    AddressLayout layout{.shared_unit = Bytes{4096} << random() % 4,
                         .device_unit = (1 + random() % 600) * 512};
    layout.own = 4096 * (1 + random() % 20);
    layout.shared = layout.shared_unit * (1 + random() % 20);
    layout.device = layout.device_unit * (1 + random() % 20);
    const Bytes unit = *layout.boundary_unit();
    const std::uintptr_t reservation = 4096 * (random() % (std::uint64_t{1} << 34));
    const std::uintptr_t at = *layout.place(reservation);
    ASSERT_LT(reservation, at);
    ASSERT_LE(at, reservation + unit);
    ASSERT_EQ(unit % layout.shared_unit + unit % layout.device_unit, 0U);
    ASSERT_EQ((at + layout.own + layout.shared) % unit, 0U);
    ASSERT_EQ((at + layout.own) % layout.shared_unit, 0U);
    ASSERT_LE(at + layout.own + layout.shared + layout.device, reservation + *layout.reserved());
  }
}

/// Equation 2.3 as printed has the place on both sides. What solves it is misplaced.
TEST(AddressLayout, ThePrintedEquationMisplacesThePool) {
  constexpr std::uint64_t reservation = 0x10000000;
  constexpr std::uint64_t before = 0x4000;  // a + b
  constexpr std::uint64_t unit = 0x200000;
  int solutions = 0;
  for (std::uint64_t x = reservation; x <= reservation + 2 * unit; x += 0x1000) {
    if (x != reservation + unit - (x + before) % unit) continue;
    ++solutions;
    EXPECT_NE((x + before) % unit, 0U);
  }
  EXPECT_GT(solutions, 0);
}

TEST(AddressLayout, RefusesSizesThatDoNotFitTheirUnits) {
  const AddressLayout right{.own = 4096, .shared = 4096, .device = 4096};
  EXPECT_TRUE(right.boundary_unit().has_value());
  const auto refused = [&](auto change) {
    AddressLayout wrong = right;
    change(wrong);
    EXPECT_FALSE(AddressRange::make(wrong).has_value());
    const auto unit = wrong.boundary_unit();
    return unit ? std::string("no error") : unit.error().message;
  };
  EXPECT_THAT(refused([](AddressLayout& layout) { layout.own = 100; }), HasSubstr("own part"));
  EXPECT_THAT(refused([](AddressLayout& layout) { layout.own = 0; }), HasSubstr("own part"));
  EXPECT_THAT(refused([](AddressLayout& layout) { layout.shared = 4097; }), HasSubstr("shared"));
  EXPECT_THAT(refused([](AddressLayout& layout) { layout.device_unit = 0; }), HasSubstr("device"));
  EXPECT_THAT(refused([](AddressLayout& layout) { layout.shared_unit = layout.shared = 512; }),
              HasSubstr("unit of the shared part"));
  EXPECT_THAT(refused([](AddressLayout& layout) {
                layout.device_unit = layout.device = (Bytes{1} << 50) + 1;
              }),
              HasSubstr("common multiple"));
}

bool is_mapped(std::uintptr_t address) {
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address), 1, &resident) == 0;
}

/// At one end there may be nothing to give back, but not of all ranges.
TEST(AddressRange, WhatIsBesideItIsGivenBack) {
  std::vector<AddressRange> ranges;
  int free_before = 0;
  int free_behind = 0;
  for (const Bytes pages : {1U, 2U, 3U, 5U}) {
    ranges.push_back(*AddressRange::make(
        {.own = pages * 4096, .shared = 4096, .device = 4 << 20, .device_unit = 2 << 20}));
    EXPECT_TRUE(is_mapped(ranges.back().own()));
    EXPECT_TRUE(is_mapped(ranges.back().end() - 4096));
    free_before += is_mapped(ranges.back().own() - 4096) ? 0 : 1;
    free_behind += is_mapped(ranges.back().end()) ? 0 : 1;
  }
  EXPECT_GT(free_before, 0);
  EXPECT_GT(free_behind, 0);
}

TEST(AddressRange, IsReservedWithoutAccess) {
  const AddressLayout layout{
      .own = 4096, .shared = 8192, .device = 4 << 20, .device_unit = 2 << 20};
  const auto range = AddressRange::make(layout);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->device() % layout.device_unit, 0U);
  EXPECT_EQ(range->end() - range->own(), layout.own + layout.shared + layout.device);
  // The parts can be put where they belong, and nothing else is there.
  void* const shared = mmap(reinterpret_cast<void*>(range->shared()), layout.shared,
                            PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(shared), range->shared());
  const auto other = AddressRange::make(layout);
  ASSERT_TRUE(other.has_value());
  EXPECT_TRUE(other->own() >= range->end() || other->end() <= range->own());
  EXPECT_EQ(other->device() - other->own(), range->device() - range->own());
}

}  // namespace
}  // namespace takt::domains
