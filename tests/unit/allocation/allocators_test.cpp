// What holds of every allocator, by random traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "reference.hpp"
#include "takt/allocation/object_pools.hpp"
#include "takt/allocation/rules.hpp"
#include "takt/allocation/segregated_fit.hpp"

namespace takt::allocation {
namespace {

constexpr Bytes granule = 4096;
constexpr Bytes whole = 1024 * granule;
constexpr int steps = 3'000;

class EveryRule : public testing::TestWithParam<Rule> {
 protected:
  [[nodiscard]] std::unique_ptr<Allocator> make() const { return GetParam().make(whole, granule); }
  [[nodiscard]] std::string_view name() const { return GetParam().name; }
};

std::string test_name(const testing::TestParamInfo<Rule>& info) {
  std::string name(info.param.name);
  std::erase_if(name, [](char letter) { return letter == ' ' || letter == ','; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryRule, testing::ValuesIn(rules().begin(), rules().end()),
                         test_name);

/// Blocks in use and free ones, which must be all of the range, each byte once.
void expect_a_partition(const Allocator& allocator, const std::map<Offset, Block>& used) {
  std::vector<Block> all = allocator.free_blocks();
  for (const auto& [offset, block] : used) all.push_back(block);
  std::ranges::sort(all, {}, &Block::offset);
  Bytes sum = 0;
  for (std::size_t index = 0; index < all.size(); ++index) {
    ASSERT_EQ(all[index].offset % granule, 0U);
    if (index > 0) {
      ASSERT_LE(all[index - 1].end(), all[index].offset) << "blocks overlap";
    }
    sum += all[index].bytes;
  }
  ASSERT_EQ(sum, allocator.range());
}

TEST_P(EveryRule, A28_KeepsEachByteInOneBlock) {
  const auto allocator = make();
  const std::size_t free_at_first = allocator->free_blocks().size();
  std::map<Offset, Block> used;
  std::mt19937 random(7);
  int refused = 0;
  for (int step = 0; step < steps; ++step) {
    const Bytes bytes = 1 + random() % (step % 100 == 0 ? whole : 40 * granule);
    if (random() % 5 < 3) {
      const auto offset = allocator->allocate(bytes);
      refused += offset ? 0 : 1;
      if (offset && bytes <= ObjectPools::slab_bytes / 2 && name() == "object pools") {
        ASSERT_TRUE(allocator->release(*offset));
      } else if (offset) {
        const Block block{.offset = *offset, .bytes = block_size(name(), bytes, granule)};
        ASSERT_TRUE(used.emplace(*offset, block).second);
      }
    } else if (!used.empty()) {
      auto released = used.lower_bound(random() % whole);
      if (released == used.end()) released = used.begin();
      ASSERT_TRUE(allocator->release(released->first));
      used.erase(released);
    }
    ASSERT_NO_FATAL_FAILURE(expect_a_partition(*allocator, used)) << "step " << step;
  }
  EXPECT_GT(refused, 0) << "the range was never full";
  for (const auto& [offset, block] : used) ASSERT_TRUE(allocator->release(offset));
  if (name() != "segregated storage") {
    EXPECT_EQ(allocator->free_blocks().size(), free_at_first);
  }
}

TEST_P(EveryRule, RefusesWhatCannotBe) {
  const auto allocator = make();
  const std::vector<Block> before = allocator->free_blocks();
  for (const Bytes bytes : {Bytes{0}, whole + 1, largest, largest + 1, ~Bytes{0}}) {
    EXPECT_FALSE(allocator->allocate(bytes).has_value()) << bytes;
  }
  for (const Offset offset : {Offset{0}, granule, whole, largest, ~Offset{0}}) {
    EXPECT_FALSE(allocator->release(offset)) << offset;
  }
  EXPECT_EQ(allocator->free_blocks(), before);
  const auto offset = allocator->allocate(3 * granule);
  ASSERT_TRUE(offset.has_value());
  const std::vector<Block> between = allocator->free_blocks();
  EXPECT_FALSE(allocator->release(*offset + 1));
  EXPECT_FALSE(allocator->release(*offset + 4 * granule));
  EXPECT_EQ(allocator->free_blocks(), between);
  EXPECT_TRUE(allocator->release(*offset));
  EXPECT_FALSE(allocator->release(*offset)) << "released twice";
  // Sequential fits alone take a block's tail back.
  if (name().find("fit") == std::string_view::npos || name() == "segregated fit") {
    ASSERT_EQ(allocator->allocate(3 * granule), offset);
    EXPECT_FALSE(allocator->release(*offset + granule));
  }
}

TEST_P(EveryRule, GrowsByWholeStepsUpToItsLimit) {
  const auto allocator = GetParam().make(64 * granule, granule);
  const Growth growth{.step = 64 * granule, .limit = whole};
  std::vector<Offset> used;
  std::mt19937 random(3);
  const auto grown = [&] { return allocate_or_grow(*allocator, 1 + random() % whole / 8, growth); };
  for (auto offset = grown(); offset; offset = grown()) used.push_back(*offset);
  EXPECT_GT(used.size(), 2U);
  EXPECT_GT(allocator->range(), 64 * granule);
  EXPECT_LE(allocator->range(), growth.limit);
  const Bytes full = allocator->range();
  EXPECT_FALSE(allocate_or_grow(*allocator, whole + 1, growth).has_value());
  EXPECT_FALSE(allocate_or_grow(*allocator, ~Bytes{0}, growth).has_value());
  EXPECT_EQ(allocator->range(), full);
  for (const Offset offset : used) ASSERT_TRUE(allocator->release(offset));
  if (GetParam().unites) {
    EXPECT_THAT(allocator->free_blocks(), testing::ElementsAre(Block{0, full}));
  }
}

TEST(Growth, TheFreeBlockAtTheEndIsPartOfWhatIsFound) {
  for (const auto& [rule, units] : {std::pair{"best fit", 112U},
                                    {"best fit, array", 112U},
                                    {"bitmap", 112U},
                                    {"TLSF", 112U},
                                    {"segregated fit", 144U},
                                    {"segregated storage", 144U}}) {
    const auto allocator = find_rule(rule)->make(16 * granule, granule);
    ASSERT_TRUE(allocator->allocate(10 * granule).has_value());
    ASSERT_TRUE(allocator->grow_for(100 * granule, {.step = 16 * granule}));
    EXPECT_EQ(allocator->range(), units * granule) << rule;
  }
}

TEST(FibonacciBuddies, CutTheSmallerHalfWhereThatIsEnough) {
  const auto allocator = find_rule("Fibonacci buddies")->make(13 * granule, granule);
  EXPECT_EQ(allocator->allocate(granule), 12 * granule);
  EXPECT_THAT(allocator->free_blocks(),
              testing::ElementsAre(Block{0, 8 * granule}, Block{8 * granule, 3 * granule},
                                   Block{11 * granule, granule}));
}

TEST_P(EveryRule, GrowsNoMoreThanOnceForARequest) {
  const auto allocator = GetParam().make(16 * granule, granule);
  const Growth growth{.step = 16 * granule, .limit = 4096 * whole};
  std::mt19937 random(5);
  for (int step = 0; step < 100; ++step) {
    const Bytes bytes = 1 + random() % whole;
    if (allocator->allocate(bytes)) continue;
    ASSERT_TRUE(allocator->grow_for(bytes, growth));
    ASSERT_TRUE(allocator->allocate(bytes).has_value()) << bytes;
  }
}

/// Memory of a device: no access at all. An allocator that knows where it is could not use it.
TEST_P(EveryRule, TouchesNothingOfWhatItManages) {
  void* const pool = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pool, MAP_FAILED);
  const auto base = reinterpret_cast<std::uintptr_t>(pool);
  const auto allocator = make();
  std::vector<std::uintptr_t> used;
  for (int step = 0; step < 50; ++step) {
    if (const auto offset = allocator->allocate(5 * granule)) used.push_back(base + *offset);
  }
  EXPECT_GE(used.size(), 25U);
  for (const std::uintptr_t at : used) EXPECT_TRUE(allocator->release(at - base));
  munmap(pool, whole);
}

TEST_P(EveryRule, UsesFreeMemoryAgain) {
  const auto allocator = make();
  for (int round = 0; round < 100; ++round) {
    const auto one = allocator->allocate(whole / 8);
    const auto two = allocator->allocate(whole / 8);
    ASSERT_TRUE(one && two) << round;
    ASSERT_TRUE(allocator->release(*one));
    ASSERT_TRUE(allocator->release(*two));
  }
  EXPECT_LT(allocator->own_bytes(), 65'536U);
}

/// Rules whose choice, or whose refusal, a slow search foretells.
class ComparedRule : public EveryRule {};

INSTANTIATE_TEST_SUITE_P(Rules, ComparedRule,
                         testing::Values(*find_rule("best fit"), *find_rule("first fit"),
                                         *find_rule("next fit"), *find_rule("best fit, array"),
                                         *find_rule("bitmap"), *find_rule("segregated fit"),
                                         *find_rule("TLSF"), *find_rule("binary buddies")),
                         test_name);

/// Whether a block is to be had, by the rule's own words.
bool can_have(std::string_view rule, const std::vector<Block>& runs, Bytes bytes) {
  Bytes needed = bytes;
  if (rule == "segregated fit" || rule == "binary buddies") needed = std::bit_ceil(bytes);
  if (rule == "TLSF") {
    const Bytes part = std::max(granule, std::bit_floor(bytes) / 32);
    needed = (bytes + part - 1) / part * part;
  }
  return std::ranges::any_of(runs, [&](const Block& run) {
    const bool is_aligned = rule == "binary buddies";
    const Offset start = is_aligned ? (run.offset + needed - 1) / needed * needed : run.offset;
    return start + needed <= run.end();
  });
}

TEST_P(ComparedRule, TakesWhatASlowSearchTakes) {
  const auto allocator = make();
  const bool is_buddies = name() == "binary buddies";
  const bool is_sequential = !is_buddies && name() != "segregated fit" && name() != "TLSF";
  Units units(whole, granule);
  std::map<Offset, Block> used;
  std::mt19937 random(11);
  Offset cursor = 0;
  for (int step = 0; step < steps; ++step) {
    const Bytes bytes = (1 + random() % 60) * granule;
    if (random() % 5 < 3) {
      const auto runs = units.free_runs();
      const auto offset = allocator->allocate(bytes);
      ASSERT_EQ(offset.has_value(), can_have(name(), runs, bytes)) << "step " << step;
      if (is_sequential) {
        ASSERT_EQ(offset, choice(name(), runs, bytes, cursor)) << "step " << step;
      }
      if (!offset) continue;
      const Block block{.offset = *offset, .bytes = block_size(name(), bytes, granule)};
      if (is_buddies) {
        ASSERT_EQ(block.offset % block.bytes, 0U);
      }
      units.set(block, true);
      used[*offset] = block;
      cursor = block.end();
    } else if (!used.empty()) {
      auto released = used.lower_bound(random() % whole);
      if (released == used.end()) released = used.begin();
      ASSERT_TRUE(allocator->release(released->first));
      units.set(released->second, false);
      used.erase(released);
    }
    // Buddies are apart, even if both are free, unless they are each other's.
    if (!is_buddies) {
      ASSERT_EQ(allocator->free_blocks(), units.free_runs());
    }
  }
}

TEST(ObjectPools, SmallObjectsShareASlabThatGoesBackWhenEmpty) {
  ObjectPools pools(std::make_unique<SegregatedFit>(powers_of_two, whole, granule));
  std::map<Offset, Bytes> used;
  std::mt19937 random(1);
  for (int step = 0; step < 4'000; ++step) {
    if (random() % 5 < 3) {
      const Bytes bytes = 1 + random() % 3'000;
      const auto offset = pools.allocate(bytes);
      ASSERT_TRUE(offset.has_value());
      const auto after = used.lower_bound(*offset);
      ASSERT_TRUE(after == used.end() || *offset + bytes <= after->first);
      ASSERT_TRUE(after == used.begin() ||
                  std::prev(after)->first + std::prev(after)->second <= *offset);
      used[*offset] = bytes;
    } else if (!used.empty()) {
      auto released = used.lower_bound(random() % whole);
      if (released == used.end()) released = used.begin();
      ASSERT_FALSE(pools.release(released->first + 1));
      ASSERT_TRUE(pools.release(released->first));
      ASSERT_FALSE(pools.release(released->first));
      used.erase(released);
    }
  }
  EXPECT_LT(used.size() * 4, whole / 256) << "the test is to have room";
  for (const auto& [offset, bytes] : used) ASSERT_TRUE(pools.release(offset));
  EXPECT_THAT(pools.free_blocks(), testing::ElementsAre(Block{0, whole}));
}

TEST(ObjectPools, ASlabHasAsManyObjectsAsFit) {
  ObjectPools pools(std::make_unique<SegregatedFit>(powers_of_two, 2 * granule, granule));
  std::vector<Offset> offsets;
  for (int object = 0; object < 128; ++object) {
    const auto offset = pools.allocate(64);
    ASSERT_TRUE(offset.has_value());
    offsets.push_back(*offset);
  }
  EXPECT_FALSE(pools.allocate(1).has_value());
  EXPECT_TRUE(pools.release(offsets[70]));
  EXPECT_EQ(pools.allocate(33), offsets[70]);
}

TEST(ObjectPools, SlabsWithRoomAreFoundInAnyOrder) {
  ObjectPools pools(std::make_unique<SegregatedFit>(powers_of_two, 3 * granule, granule));
  std::vector<Offset> offsets;
  while (const auto offset = pools.allocate(2048)) offsets.push_back(*offset);
  ASSERT_EQ(offsets.size(), 6U);
  for (const std::size_t object : {0U, 2U, 4U, 1U, 5U}) EXPECT_TRUE(pools.release(offsets[object]));
  EXPECT_EQ(pools.allocate(2048), offsets[2]);
  EXPECT_THAT(pools.free_blocks(),
              testing::ElementsAre(Block{0, granule}, Block{2 * granule, granule}));
}

}  // namespace
}  // namespace takt::allocation
