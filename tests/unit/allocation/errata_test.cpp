// Where the printed algorithms fail: each as it is printed, beside what is right. Written from the
// document's descriptions, with containers of the standard library.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "takt/allocation/segregated_fit.hpp"
#include "takt/allocation/sequential_fit.hpp"

namespace takt::allocation {
namespace {

/// Algorithm 3 as printed.
Offset printed_best_fit(const std::vector<Block>& free, Bytes bytes) {
  Block best = free.back();
  for (const Block& block : free) {
    if (block.bytes == bytes) break;
    if (block.bytes > bytes && block.bytes < best.bytes) best = block;
  }
  return best.offset;
}

/// An allocator whose free blocks are these.
std::unique_ptr<Allocator> best_fit_over(const std::vector<Block>& free) {
  Offset end = 0;
  auto allocator = std::make_unique<SequentialFit<SortedArray>>(Fit::best, free.back().end(), 1);
  for (const Block& block : free) {
    if (block.offset > end) {
      EXPECT_TRUE(allocator->allocate(block.offset - end).has_value());
    }
    EXPECT_TRUE(allocator->allocate(block.bytes).has_value());
    end = block.end();
  }
  for (const Block& block : free) EXPECT_TRUE(allocator->release(block.offset));
  EXPECT_EQ(allocator->free_blocks(), free);
  return allocator;
}

TEST(Errata, A19_PrintedBestFitPassesOverAnExactSize) {
  const std::vector<Block> free{{0, 64}, {100, 40}, {200, 48}, {400, 600}};
  EXPECT_EQ(printed_best_fit(free, 48), 0U);
  EXPECT_EQ(best_fit_over(free)->allocate(48), 200U);
}

TEST(Errata, A20_PrintedBestFitTakesALastBlockThatIsTooSmall) {
  const std::vector<Block> free{{0, 64}, {100, 600}, {900, 40}};
  EXPECT_EQ(printed_best_fit(free, 50), 900U);
  EXPECT_EQ(best_fit_over(free)->allocate(50), 0U);
}

/// Algorithm 2 as printed: neither guards nor equality.
struct PrintedRelease {
  std::map<Offset, Bytes> used;
  std::map<Offset, Bytes> free;

  void release(Offset offset) {
    const auto found = std::prev(used.upper_bound(offset));
    const Bytes bytes = found->first + found->second - offset;
    if (found->first == offset) {
      used.erase(found);
    } else {
      found->second = offset - found->first;
    }
    const auto right = free.upper_bound(offset);
    const auto left = std::prev(right);
    const bool joins_left = left->first + left->second >= offset;
    const bool joins_right = right != free.end() && offset + bytes >= right->first;
    if (joins_left && joins_right) {
      left->second = right->first + right->second - left->first;
      free.erase(right);
    } else if (joins_left) {
      left->second += bytes;
    } else {
      free[offset] = bytes;
    }
  }
};

TEST(Errata, PrintedReleaseTakesWhatIsFreeAlready) {
  PrintedRelease printed{.used = {{64, 64}}, .free = {{0, 64}, {128, 64}}};
  printed.release(160);  // within a free block
  EXPECT_NE(printed.used.at(64), 64U) << "a block in use has changed";
  SequentialFit<SortedArray> allocator(Fit::first, 192, 1);
  for (int block = 0; block < 3; ++block) ASSERT_TRUE(allocator.allocate(64).has_value());
  ASSERT_TRUE(allocator.release(0));
  ASSERT_TRUE(allocator.release(128));
  const auto before = allocator.free_blocks();
  EXPECT_FALSE(allocator.release(160));
  EXPECT_FALSE(allocator.release(0));
  EXPECT_EQ(allocator.free_blocks(), before);
}

/// Algorithms 4 and 5, with errors of the printed version one by one.
struct Errors {
  bool ignores_bitmap = false;
  bool counts_bits_from_one = false;
  bool takes_address_0_for_none = false;
  bool keeps_bit_of_emptied_list = false;
  bool keeps_back_link_of_new_head = false;
  bool keeps_left_in_its_list = false;
  bool rounds_class_up = false;
};

class PrintedSegregatedFit {
 public:
  PrintedSegregatedFit(Errors errors, Bytes bytes) : errors_(errors) {
    blocks_[0].bytes = bytes;
    push(0);
  }

  std::optional<Offset> allocate(Bytes bytes) {
    auto list = static_cast<unsigned>(std::bit_width(bytes - 1));
    if (!errors_.ignores_bitmap) {
      const std::uint64_t available = bitmap_ & ~((std::uint64_t{1} << list) - 1);
      if (available == 0) return std::nullopt;
      list = static_cast<unsigned>(std::countr_zero(available));
      if (errors_.counts_bits_from_one) ++list;
    }
    const auto head = lists_[list];
    if (!head || (errors_.takes_address_0_for_none && *head == 0)) return std::nullopt;
    const Offset offset = *head;
    pop(list);
    Node& block = blocks_.at(offset);
    if (block.bytes > bytes) {
      const Offset rest = offset + bytes;
      blocks_[rest].bytes = block.bytes - bytes;
      blocks_[rest].before = offset;
      if (const auto follower = blocks_.find(offset + block.bytes); follower != blocks_.end()) {
        follower->second.before = rest;
      }
      block.bytes = bytes;
      push(rest);
    }
    return offset;
  }

  void release(Offset offset) {
    const auto right = blocks_.find(offset + blocks_.at(offset).bytes);
    if (right != blocks_.end() && right->second.free) {
      unlink(right->first);
      unite(offset, right->first);
    }
    const auto left = blocks_.at(offset).before;
    if (left && blocks_.at(*left).free) {
      if (!errors_.keeps_left_in_its_list) unlink(*left);
      unite(*left, offset);
      offset = *left;
    }
    push(offset);
  }

  /// Whether each free block is in the list of its class once, with the right links and bits.
  [[nodiscard]] bool is_sound() const {
    std::set<Offset> listed;
    for (unsigned list = 0; list < lists_.size(); ++list) {
      if (lists_[list].has_value() != ((bitmap_ >> list & 1) != 0)) return false;
      std::optional<Offset> previous;
      for (auto at = lists_[list]; at; previous = at, at = blocks_.at(*at).next) {
        const auto found = blocks_.find(*at);
        if (found == blocks_.end() || !found->second.free || found->second.previous != previous ||
            floor_log2(found->second.bytes) != list || !listed.insert(*at).second) {
          return false;
        }
      }
    }
    std::size_t free = 0;
    for (const auto& [offset, block] : blocks_) free += block.free ? 1 : 0;
    return listed.size() == free;
  }

 private:
  struct Node {
    Bytes bytes = 0;
    std::optional<Offset> before;
    bool free = false;
    std::optional<Offset> next;
    std::optional<Offset> previous;
  };

  void push(Offset offset) {
    Node& block = blocks_.at(offset);
    const unsigned list = floor_log2(block.bytes);
    block.free = true;
    block.previous = std::nullopt;
    block.next = lists_[list];
    if (block.next) blocks_.at(*block.next).previous = offset;
    lists_[list] = offset;
    bitmap_ |= std::uint64_t{1} << list;
  }

  /// Removes the head of a list.
  void pop(unsigned list) {
    Node& block = blocks_.at(*lists_[list]);
    block.free = false;
    lists_[list] = block.next;
    if (block.next && !errors_.keeps_back_link_of_new_head) {
      blocks_.at(*block.next).previous = std::nullopt;
    }
    if (!block.next && !errors_.keeps_bit_of_emptied_list) {
      bitmap_ &= ~(std::uint64_t{1} << list);
    }
  }

  void unlink(Offset offset) {
    Node& block = blocks_.at(offset);
    block.free = false;
    const unsigned list = floor_log2(block.bytes);
    if (block.next) blocks_.at(*block.next).previous = block.previous;
    if (block.previous) {
      blocks_.at(*block.previous).next = block.next;
      return;
    }
    lists_[list] = block.next;
    const unsigned up = static_cast<unsigned>(std::bit_width(block.bytes - 1));
    if (!block.next) bitmap_ &= ~(std::uint64_t{1} << (errors_.rounds_class_up ? up : list));
  }

  void unite(Offset left, Offset right) {
    blocks_.at(left).bytes += blocks_.at(right).bytes;
    blocks_.erase(right);
    const auto follower = blocks_.find(left + blocks_.at(left).bytes);
    if (follower != blocks_.end()) follower->second.before = left;
  }

  Errors errors_;
  std::map<Offset, Node> blocks_;
  std::array<std::optional<Offset>, 64> lists_;
  std::uint64_t bitmap_ = 0;
};

/// Whether the lists are right after every step of a trace.
bool stays_sound(Errors errors) {
  PrintedSegregatedFit allocator(errors, Bytes{1} << 20);
  std::vector<Offset> used;
  std::mt19937 random(9);
  for (int step = 0; step < 2'000; ++step) {
    if (!allocator.is_sound()) return false;
    if (random() % 2 == 0) {
      if (const auto offset = allocator.allocate(1 + random() % 60'000)) used.push_back(*offset);
    } else if (!used.empty()) {
      std::swap(used[random() % used.size()], used.back());
      allocator.release(used.back());
      used.pop_back();
    }
  }
  return true;
}

TEST(Errata, PrintedSegregatedFitLosesItsLists) {
  EXPECT_TRUE(stays_sound({})) << "without the errors it is right";
  EXPECT_FALSE(stays_sound({.keeps_bit_of_emptied_list = true}));
  EXPECT_FALSE(stays_sound({.keeps_back_link_of_new_head = true}));
  EXPECT_FALSE(stays_sound({.keeps_left_in_its_list = true}));
  EXPECT_FALSE(stays_sound({.rounds_class_up = true}));
}

TEST(Errata, PrintedSegregatedFitFindsNothingInAnEmptyHeap) {
  const auto first = [](Errors errors) {
    return PrintedSegregatedFit(errors, Bytes{1} << 20).allocate(1000);
  };
  EXPECT_EQ(first({}), 0U);
  EXPECT_EQ(first({.ignores_bitmap = true}), std::nullopt);
  EXPECT_EQ(first({.counts_bits_from_one = true}), std::nullopt);
  EXPECT_EQ(first({.takes_address_0_for_none = true}), std::nullopt);
  EXPECT_EQ(SegregatedFit(powers_of_two, Bytes{1} << 20, 1).allocate(1000), 0U);
}

TEST(Errata, SegregatedFitReleasesTheBlockAtAddress0) {
  SegregatedFit allocator(powers_of_two, 4096, 1);
  ASSERT_EQ(allocator.allocate(10), 0U);
  EXPECT_TRUE(allocator.release(0));
}

/// The corrected printed version and ours take the same blocks.
TEST(Errata, WithoutThemSegregatedFitIsOurs) {
  PrintedSegregatedFit corrected({}, Bytes{1} << 20);
  SegregatedFit ours(powers_of_two, Bytes{1} << 20, 1);
  std::vector<Offset> used;
  std::mt19937 random(10);
  for (int step = 0; step < 5'000; ++step) {
    if (random() % 2 == 0) {
      const Bytes bytes = 1 + random() % 60'000;
      const auto offset = corrected.allocate(bytes);
      ASSERT_EQ(ours.allocate(bytes), offset) << "step " << step;
      if (offset) used.push_back(*offset);
    } else if (!used.empty()) {
      std::swap(used[random() % used.size()], used.back());
      corrected.release(used.back());
      ASSERT_TRUE(ours.release(used.back()));
      used.pop_back();
    }
  }
}

/// Algorithm 9 as printed sets all links of the first chunks but one.
TEST(Errata, PrintedInitialisationLeavesALinkUnset) {
  struct Head {
    const void* next;
    const void* previous;
    std::size_t count;
  };
  alignas(Head) std::array<std::byte, sizeof(Head)> page{};
  std::memset(page.data(), 0xA5, page.size());  // memory is not 0 because it is new
  auto& used_head = *reinterpret_cast<Head*>(page.data());
  used_head.previous = nullptr;
  used_head.count = 0;
  EXPECT_NE(used_head.next, nullptr);
  HybridArrayList<4> ours;
  EXPECT_EQ(ours.chunks(), 1U);
  EXPECT_EQ(ours.search(~Offset{0}), ours.end());
}

}  // namespace
}  // namespace takt::allocation
