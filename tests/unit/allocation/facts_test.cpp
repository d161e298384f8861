// What the document states of the algorithms, with its numbers (A-…), and what follows from its
// parameters (N…). A-27 is arithmetic on the document's own layouts: 1/2, 1/65 and 6/7.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>

#include "reference.hpp"
#include "takt/allocation/bitmap_fit.hpp"
#include "takt/allocation/rules.hpp"
#include "takt/allocation/segregated_fit.hpp"
#include "takt/allocation/sequential_fit.hpp"
#include "takt/allocation/trace.hpp"

namespace takt::allocation {
namespace {

using testing::ElementsAre;
using Sequential = SequentialFit<HybridArrayList<>>;

TEST(AllocationFacts, A15_ABitmapTakesABitForEachUnit) {
  const Bytes gibibyte = Bytes{1} << 30;
  BitmapFit small(gibibyte, 8);
  EXPECT_EQ(small.own_bytes(), 2 * (Bytes{16} << 20)) << "16 MiB, and as much for the ends";
  EXPECT_EQ(small.allocate(1024), 0U);
  EXPECT_EQ(small.free_blocks().front().offset / 8, 128U);
}

TEST(AllocationFacts, A16_AReleasedBlockJoinsBothNeighbours) {
  Sequential allocator(Fit::first, 192, 1);
  for (const Offset offset : {0U, 64U, 128U}) ASSERT_EQ(allocator.allocate(64), offset);
  ASSERT_TRUE(allocator.release(0));
  ASSERT_TRUE(allocator.release(128));
  EXPECT_THAT(allocator.free_blocks(), ElementsAre(Block{0, 64}, Block{128, 64}));
  ASSERT_TRUE(allocator.release(64));
  EXPECT_THAT(allocator.free_blocks(), ElementsAre(Block{0, 192}));
}

TEST(AllocationFacts, A17_TheTailOfABlockIsReleasedFromWithin) {
  Sequential allocator(Fit::best, 11'240, 1);
  ASSERT_EQ(allocator.allocate(1000), 0U);
  ASSERT_EQ(allocator.allocate(10'240), 1000U);
  ASSERT_TRUE(allocator.release(9192));
  EXPECT_THAT(allocator.free_blocks(), ElementsAre(Block{9192, 2048}));
  EXPECT_FALSE(allocator.release(9192)) << "is not in use any more";
  ASSERT_TRUE(allocator.release(1000));
  EXPECT_THAT(allocator.free_blocks(), ElementsAre(Block{1000, 10'240}));
}

/// Free blocks (0, 64), (100, 40), (200, 48), (400, 600), the latest block before the fourth.
std::unique_ptr<Sequential> four_free_blocks(Fit fit) {
  auto allocator = std::make_unique<Sequential>(fit, 1000, 1);
  for (const Bytes bytes : {64U, 36U, 40U, 60U, 48U, 152U, 600U})
    EXPECT_TRUE(allocator->allocate(bytes));
  EXPECT_TRUE(allocator->release(248));
  EXPECT_EQ(allocator->allocate(152), 248U);
  for (const Offset offset : {0U, 100U, 200U, 400U}) EXPECT_TRUE(allocator->release(offset));
  EXPECT_THAT(allocator->free_blocks(),
              ElementsAre(Block{0, 64}, Block{100, 40}, Block{200, 48}, Block{400, 600}));
  return allocator;
}

TEST(AllocationFacts, A18_EachSequentialFitTakesAnotherBlock) {
  EXPECT_EQ(four_free_blocks(Fit::first)->allocate(45), 0U);
  EXPECT_EQ(four_free_blocks(Fit::best)->allocate(45), 200U);
  EXPECT_EQ(four_free_blocks(Fit::next)->allocate(45), 400U);
}

TEST(AllocationFacts, TheCursorOfNextFitOutlivesItsBlock) {
  const auto allocator = four_free_blocks(Fit::next);
  ASSERT_TRUE(allocator->release(248));  // the cursor is within a free block now
  EXPECT_EQ(allocator->allocate(700), 200U);
}

TEST(AllocationFacts, A21_SegregatedFitStepByStep) {
  SegregatedFit allocator(powers_of_two, Bytes{1} << 20, 1);
  EXPECT_EQ(allocator.allocate(1000), 0U);
  EXPECT_THAT(allocator.filled_classes(), ElementsAre(19));
  EXPECT_EQ(allocator.allocate(3000), 1000U);
  EXPECT_EQ(allocator.allocate(500), 4000U);
  EXPECT_TRUE(allocator.release(1000));
  EXPECT_THAT(allocator.filled_classes(), ElementsAre(11, 19));
  EXPECT_EQ(allocator.allocate(1025), 1000U);
  for (const Offset offset : {4000U, 0U, 1000U}) EXPECT_TRUE(allocator.release(offset));
  EXPECT_THAT(allocator.free_blocks(), ElementsAre(Block{0, Bytes{1} << 20}));
  EXPECT_THAT(allocator.filled_classes(), ElementsAre(20));
}

TEST(AllocationFacts, A22_ARequestIsServedFromTheNextClassUp) {
  EXPECT_EQ(powers_of_two.of_request(1025), 11U);
  EXPECT_EQ(powers_of_two.of_block(4095), 11U);
  SegregatedFit allocator(powers_of_two, 4095, 1);
  EXPECT_EQ(allocator.allocate(1025), 0U);
  EXPECT_THAT(allocator.free_blocks(), ElementsAre(Block{1025, 3070})) << "it is split";
}

TEST(AllocationFacts, A23_ABlockThatIsJustLargeEnoughIsPassedOver) {
  SegregatedFit allocator(powers_of_two, 3000, 1);
  EXPECT_FALSE(allocator.allocate(2049).has_value());
  EXPECT_EQ(allocator.allocate(2048), 0U);
  EXPECT_TRUE(SegregatedFit(tlsf, 3000, 1).allocate(2049).has_value());
}

TEST(AllocationFacts, N2_TlsfHasTwoLevels) {
  struct Fact {
    Bytes bytes;
    std::array<BlockTable::List, 2> block;
    std::array<BlockTable::List, 2> request;
  };
  for (const Fact& fact :
       {Fact{1000, {9, 30}, {9, 31}}, Fact{1025, {10, 0}, {10, 1}}, Fact{3000, {11, 14}, {11, 15}},
        Fact{4095, {11, 31}, {12, 0}}, Fact{460, {8, 25}, {8, 26}}}) {
    EXPECT_EQ(tlsf.of_block(fact.bytes), fact.block[0] * 32 + fact.block[1]) << fact.bytes;
    EXPECT_EQ(tlsf.of_request(fact.bytes), fact.request[0] * 32 + fact.request[1]) << fact.bytes;
  }
  for (Bytes bytes = 1; bytes < 70'000; ++bytes) {
    const Bytes rounded = tlsf.rounded(bytes);
    ASSERT_LE((rounded - bytes) * 32, bytes) << "more than 1/32 is wasted by the choice of class";
    ASSERT_EQ(tlsf.of_block(rounded), tlsf.of_request(bytes));
    if (bytes > 1) {
      ASSERT_LT(tlsf.of_block(rounded - 1), tlsf.of_request(bytes));
    }
  }
}

TEST(AllocationFacts, N4_ABitmapOfPages) {
  EXPECT_EQ(BitmapFit(Bytes{1} << 30, 4096).own_bytes(), 2 * (Bytes{32} << 10));
}

TEST(AllocationFacts, N4_ATableOfBlocksTakesLessThanSixWordsEach) {
  const Bytes blocks = 4096;
  SegregatedFit allocator(powers_of_two, blocks * 4096, 4096);
  allocator.reserve(blocks);
  const Bytes lists = SegregatedFit(powers_of_two, 4096, 4096).own_bytes();
  for (Bytes block = 0; block < blocks; ++block) ASSERT_TRUE(allocator.allocate(1).has_value());
  const auto own = static_cast<double>(allocator.own_bytes() - lists);
  EXPECT_LE(own / (own + static_cast<double>(blocks * 4096)), 0.0116);
}

TEST(AllocationFacts, N5_WhatBuddiesWasteOfUniformRequests) {
  // Sizes between 4096 and 8192 granules, by the bytes that the range loses.
  struct Fact {
    std::string_view rule;
    Bytes least;
    Bytes most;
    double waste;
  };
  constexpr Bytes unit = 4096;
  for (const Fact& fact :
       {Fact{"binary buddies", 1025, 2048, 0.25}, Fact{"double buddies", 1025, 1536, 1.0 / 6},
        Fact{"double buddies", 1537, 2048, 0.125}, Fact{"Fibonacci buddies", 988, 1597, 0.19}}) {
    const auto allocator = find_rule(fact.rule)->make(16'384 * unit, unit);
    const auto free = [&] {
      Bytes sum = 0;
      for (const Block& block : allocator->free_blocks()) sum += block.bytes;
      return sum;
    };
    const Bytes all = free();
    double used = 0;
    double asked = 0;
    for (Bytes units = fact.least; units <= fact.most; ++units) {
      const auto offset = allocator->allocate(units * unit);
      ASSERT_TRUE(offset.has_value());
      asked += static_cast<double>(units * unit);
      used += static_cast<double>(all - free());
      ASSERT_TRUE(allocator->release(*offset));
    }
    EXPECT_NEAR(1 - asked / used, fact.waste, 0.002) << fact.rule << ' ' << fact.least;
  }
}

/// The share of the provisioned memory that the document's workload uses.
double in_use(std::string_view rule, Sizes sizes) {
  constexpr Growth growth{.step = 2 << 20, .limit = Bytes{1} << 40};
  double sum = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const auto allocator = find_rule(rule)->make(growth.step, 4096);
    const auto usage = use(*allocator, make_trace(sizes, 5'000, seed), growth);
    EXPECT_TRUE(usage.has_value());
    sum += usage->in_use_of_range / 5;
  }
  return sum;
}

TEST(AllocationFacts, N3_InUseOverProvisioned) {
  constexpr double near = 0.03;
  EXPECT_NEAR(in_use("segregated fit", Sizes::uniform), 0.53, near);  // printed: about 50 %
  EXPECT_NEAR(in_use("TLSF", Sizes::uniform), 0.65, near);
  EXPECT_NEAR(in_use("best fit", Sizes::uniform), 0.64, near);
  EXPECT_NEAR(in_use("first fit", Sizes::uniform), 0.64, near);
  EXPECT_NEAR(in_use("next fit", Sizes::uniform), 0.60, near);
  EXPECT_NEAR(in_use("segregated fit", Sizes::two), 0.66, near);
  EXPECT_NEAR(in_use("segregated fit", Sizes::log_uniform), 0.32, near);
  EXPECT_NEAR(in_use("TLSF", Sizes::log_uniform), 0.36, near);
  EXPECT_NEAR(in_use("best fit", Sizes::log_uniform), 0.37, near);
  EXPECT_NEAR(in_use("first fit", Sizes::log_uniform), 0.37, near);
  EXPECT_NEAR(in_use("next fit", Sizes::log_uniform), 0.30, near);
}

TEST(Trace, IsTheSameForASeedAndKeepsItsSizes) {
  for (const NamedSizes& named : all_sizes) {
    const auto one = make_trace(named.sizes, 1'000, 1);
    const auto again = make_trace(named.sizes, 1'000, 1);
    const auto other = make_trace(named.sizes, 1'000, 2);
    bool differs = false;
    for (std::size_t step = 0; step < one.size(); ++step) {
      ASSERT_EQ(one[step].bytes, again[step].bytes);
      ASSERT_LT(one[step].slot, trace_slots);
      ASSERT_GE(one[step].bytes, 1024U);
      ASSERT_LE(one[step].bytes, 16U << 20);
      differs |= one[step].slot != other[step].slot;
    }
    EXPECT_TRUE(differs) << named.name;
  }
}

TEST(Trace, MayReleaseAndPutNothingThere) {
  constexpr Bytes page = 4096;
  const auto allocator = find_rule("first fit")->make(10 * page, page);
  const Growth growth{.step = 10 * page, .limit = 10 * page};
  const std::vector<Step> trace{{0, 2 * page}, {1, 2 * page}, {2, 2 * page}, {3, 2 * page},
                                {4, 2 * page}, {1, 0},        {3, 0},        {9, 0},
                                {2, 0},        {0, page}};
  EXPECT_EQ(slots_of(trace), 10U);
  EXPECT_EQ(slots_of({}), 0U);
  const auto usage = use(*allocator, trace, growth);
  ASSERT_TRUE(usage.has_value());
  EXPECT_THAT(usage->at_moments,
              testing::ElementsAre(0.2, 0.4, 0.6, 0.8, 1.0, 0.8, 0.6, 0.6, 0.4, 0.3));
  const auto near = [](double value) { return testing::DoubleNear(value, 1e-9); };
  EXPECT_THAT(usage->largest_of_free,
              testing::ElementsAre(near(1), near(1), near(1), near(1), near(1), near(1), near(0.5),
                                   near(0.5), near(1), near(1)));
  EXPECT_NEAR(usage->in_use_of_range, (0.6 + 0.8 + 1 + 0.8 + 0.6 + 0.6 + 0.4 + 0.3) / 8, 1e-9);
  EXPECT_EQ(allocator->free_blocks().size(), 1U);
}

TEST(Trace, EndsAtTheLimit) {
  const auto allocator = find_rule("TLSF")->make(2 << 20, 4096);
  const Growth growth{.step = 2 << 20, .limit = 64 << 20};
  EXPECT_FALSE(use(*allocator, make_trace(Sizes::uniform, 1'000, 1), growth).has_value());
}

}  // namespace
}  // namespace takt::allocation
