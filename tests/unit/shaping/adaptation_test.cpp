#include "takt/shaping/adaptation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace takt::shaping {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Duration longest_at_first = milliseconds(60);

Duration around(Duration longest, int number) { return longest - milliseconds((7 * number) % 20); }

PlacementOptions options(std::size_t bands) {
  return {.cycle = milliseconds(100),
          .bands = bands,
          .slack = milliseconds(1),
          .publish_time = microseconds(100)};
}

std::vector<Slot> planned(std::size_t bands) {
  std::vector<Duration> latencies;
  for (int i = 0; i < 100; ++i) latencies.push_back(around(longest_at_first, i));
  const auto placed = place(Profile::of(latencies).value(), options(bands));
  std::vector<Slot> slots;
  for (const Band& band : placed->bands) slots.push_back(band.slot);
  return slots;
}

/// The last slots that it chose while so many outputs came, and how often it chose.
std::pair<std::vector<Slot>, int> after(Adaptation& adaptation, Duration longest, int count) {
  std::vector<Slot> last;
  int changes = 0;
  for (int i = 0; i < count; ++i) {
    if (auto slots = adaptation.observe(around(longest, i))) {
      last = *slots;
      ++changes;
    }
  }
  return {last, changes};
}

TEST(Adaptation, LeavesSlotsAloneWhileNothingDrifts) {
  for (const std::size_t bands : {1U, 3U}) {
    Adaptation adaptation(options(bands), planned(bands));
    EXPECT_EQ(after(adaptation, longest_at_first, 10'000).second, 0);
    EXPECT_EQ(after(adaptation, longest_at_first - microseconds(500), 10'000).second, 0);
  }
}

TEST(Adaptation, MovesTheLastSlotBehindLatenciesThatHaveGrown) {
  Adaptation adaptation(options(1), planned(1));
  const auto [slots, changes] = after(adaptation, milliseconds(70), 2'000);
  ASSERT_EQ(slots.size(), 1U);
  EXPECT_EQ(slots[0].start, milliseconds(71));
  EXPECT_EQ(changes, 1);
}

TEST(Adaptation, MovesSlotsForwardWhereThatIsWorthIt) {
  Adaptation adaptation(options(3), planned(3));
  const auto [slots, changes] = after(adaptation, milliseconds(40), 5'000);
  ASSERT_EQ(slots.size(), 3U);
  EXPECT_EQ(slots[2].start, milliseconds(41));
  EXPECT_GE(changes, 1);
  EXPECT_EQ(after(adaptation, milliseconds(40), 5'000).second, 0);
}

TEST(Adaptation, KeepsTheSlotsOfAChainThatHasNone) {
  Adaptation adaptation(options(1), planned(1));
  EXPECT_EQ(after(adaptation, milliseconds(120), 5'000).second, 0);
}

}  // namespace
}  // namespace takt::shaping
