// The data structures: hybrid-array lists, sets of numbers, tables of blocks, bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "takt/allocation/bitmap_fit.hpp"
#include "takt/allocation/block_table.hpp"
#include "takt/allocation/hybrid_array_list.hpp"
#include "takt/allocation/sorted_array.hpp"

namespace takt::allocation {
namespace {

template <typename List>
class SortedList : public testing::Test {};
using Lists = testing::Types<SortedArray, HybridArrayList<>, HybridArrayList<4>>;
TYPED_TEST_SUITE(SortedList, Lists);

TYPED_TEST(SortedList, A24_IsAMapByOffsets) {
  TypeParam list;
  std::map<Offset, Bytes> map;
  std::mt19937 random(2);
  for (int step = 0; step < 4'000; ++step) {
    const Offset offset = random() % 500;
    const auto found = list.search(offset);
    const auto after = map.upper_bound(offset);
    ASSERT_EQ(found == list.end(), after == map.begin());
    if (found != list.end()) {
      ASSERT_EQ(list.at(found).offset, std::prev(after)->first);
    }
    if (map.contains(offset)) {
      list.remove(found);
      map.erase(offset);
    } else if (random() % 3 != 0 || map.size() > 100) {
      list.insert({.offset = offset, .bytes = random()});
      map[offset] = list.at(list.search(offset)).bytes;
    }
    std::vector<Block> expected;
    for (const auto& [at, bytes] : map) expected.push_back({at, bytes});
    ASSERT_EQ(list.blocks(), expected);
    ASSERT_EQ(list.last(), expected.empty() ? std::nullopt : std::optional(expected.back()));
  }
}

TYPED_TEST(SortedList, A26_StepsThereAndBackLeadNowhere) {
  TypeParam list;
  for (Offset offset = 100; offset-- > 0;) list.insert({offset * 7 % 100, 1});
  Offset expected = 0;
  for (auto at = list.begin(); at != list.end(); at = list.next(at)) {
    ASSERT_EQ(list.at(at).offset, expected++);
    ASSERT_EQ(list.previous(list.next(at)), at);
  }
  EXPECT_EQ(expected, 100U);
}

TEST(HybridArrayList, A25_AFullChunkSplitsAndAnEmptyOneGoes) {
  HybridArrayList<4> list;
  EXPECT_EQ(list.chunks(), 1U);
  for (const Offset offset : {10U, 20U, 30U, 40U}) list.insert({offset, 1});
  EXPECT_EQ(list.chunks(), 1U);
  list.insert({25, 1});
  EXPECT_EQ(list.chunks(), 2U);
  const auto last = list.search(25);
  EXPECT_EQ(last.index, 2U);
  const auto next = list.next(last);  // from a chunk to the next one
  EXPECT_EQ(list.at(next).offset, 30U);
  EXPECT_EQ(next.index, 0U);
  list.remove(list.search(40));
  EXPECT_EQ(list.chunks(), 2U);
  list.remove(list.search(30));
  EXPECT_EQ(list.chunks(), 1U);
  for (const Offset offset : {25U, 20U}) list.remove(list.search(offset));
  list.remove(list.search(10));
  EXPECT_EQ(list.chunks(), 1U) << "the last chunk stays";
  EXPECT_EQ(list.begin(), list.end());
}

TEST(HybridArrayList, ChunksAreAPageAndStayFilled) {
  HybridArrayList<> list;
  EXPECT_LE(list.own_bytes(), 4096U);
  EXPECT_GT(list.own_bytes(), 4096U - 2 * sizeof(Block));
  HybridArrayList<4> sparse;
  for (Offset offset = 0; offset < 400; ++offset) sparse.insert({offset, 1});
  for (Offset offset = 0; offset < 400; ++offset) {
    if (offset % 8 != 0) sparse.remove(sparse.search(offset));
  }
  EXPECT_EQ(sparse.blocks().size(), 50U);
  EXPECT_LE(sparse.chunks(), 50U) << "neighbours with little in them are one chunk";
}

TEST(NumberSet, FindsTheLeastFromOneOn) {
  NumberSet numbers;
  std::set<std::uint32_t> expected;
  std::mt19937 random(4);
  for (int step = 0; step < 20'000; ++step) {
    const auto number =
        static_cast<std::uint32_t>(random() % (step % 2 == 0 ? NumberSet::limit : 200));
    if (random() % 2 == 0) {
      numbers.insert(number);
      expected.insert(number);
    } else {
      numbers.remove(number);
      expected.erase(number);
    }
    const auto from = static_cast<std::uint32_t>(random() % (NumberSet::limit + 2));
    const auto found = expected.lower_bound(from);
    ASSERT_EQ(numbers.first_from(from), found == expected.end() ? NumberSet::limit : *found);
  }
}

TEST(BlockTable, FindsWhatIsThere) {
  BlockTable table(2);
  std::map<Offset, BlockTable::Index> expected;
  std::mt19937 random(6);
  for (int step = 0; step < 10'000; ++step) {
    const Offset offset = random() % 700 * 4096;
    const auto found = expected.find(offset);
    ASSERT_EQ(table.find(offset), found == expected.end() ? BlockTable::none : found->second);
    if (found == expected.end()) {
      expected[offset] = table.insert({offset, 1});
    } else {
      table.erase(found->second);
      expected.erase(found);
    }
  }
}

TEST(BlockTable, RoomThatIsReservedNeedsNoMore) {
  BlockTable table(2);
  table.reserve(1000);
  const Bytes before = table.own_bytes();
  for (Offset offset = 0; offset < 1000; ++offset)
    table.push(table.insert({offset, 1}), offset % 2);
  EXPECT_EQ(table.own_bytes(), before);
}

TEST(Bits, AreFoundAndFilledWordByWord) {
  Bits bits;
  std::vector<bool> expected;
  std::mt19937 random(8);
  for (const std::size_t size : {1U, 64U, 65U, 300U}) {
    bits.resize(size, size % 2 == 0);
    expected.resize(size, size % 2 == 0);
    for (int step = 0; step < 500; ++step) {
      const std::size_t from = random() % (size + 1);
      const std::size_t to = from + random() % (size - from + 1);
      const bool value = random() % 2 == 0;
      std::size_t at = from;
      while (at < to && expected[at] != value) ++at;
      ASSERT_EQ(bits.find(value, from, to), at);
      bits.fill(from, to, value);
      std::fill(expected.begin() + std::ptrdiff_t(from), expected.begin() + std::ptrdiff_t(to),
                value);
      for (std::size_t bit = 0; bit < size; ++bit) ASSERT_EQ(bits[bit], expected[bit]);
    }
  }
}

}  // namespace
}  // namespace takt::allocation
