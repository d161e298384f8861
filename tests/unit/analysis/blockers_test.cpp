#include "busy_window/blockers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "takt/generation/random.hpp"

namespace takt::analysis {
namespace {

struct Added {
  Duration time{};
  Duration until{};
};

Duration longest(const std::vector<Added>& all, Duration offset) {
  Duration longest{0};
  for (const Added& each : all) {
    if (each.until > offset) longest = std::max(longest, each.time);
  }
  return longest;
}

TEST(Blockers, AreTheLongestOfThoseThatStillBlock) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    generation::Random random(seed);
    Blockers blockers;
    std::vector<Added> all;
    for (std::int64_t n = random.between(0, 8); n > 0; --n) {
      const Added added{Duration{random.between(0, 5)}, Duration{random.between(-2, 9)}};
      all.push_back(added);
      blockers.add({.time = added.time, .callback = CallbackIndex{all.size()}}, added.until);
    }
    for (Duration offset{0}; offset < Duration{12}; offset += epsilon) {
      EXPECT_EQ(blockers.at(offset).time, longest(all, offset)) << seed << " at " << offset;
      const Duration next = blockers.next_step(offset);
      for (Duration later = offset; later < std::min(next, Duration{12}); later += epsilon) {
        EXPECT_EQ(longest(all, later), longest(all, offset)) << seed << " from " << offset;
      }
    }
  }
}

}  // namespace
}  // namespace takt::analysis
