#include "takt/shaping/servers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace takt::shaping {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;

Slot slot(int start, int end) { return {milliseconds(start), milliseconds(end)}; }

Profile up_to(int most) {
  std::vector<Duration> latencies;
  for (int i = 1; i <= most; ++i) latencies.push_back(milliseconds(i));
  return Profile::of(latencies).value();
}

TEST(ShapingFact, P21_TheServerOfTheParkingChain) {
  const Profile profile = Profile::of({microseconds(84700), microseconds(32900)}).value();
  const std::vector<Demand> alone = {
      {.id = "parking", .period = milliseconds(100), .alone = profile}};
  const JointTable table = joint_table(alone, milliseconds(1), milliseconds(1)).value();
  EXPECT_EQ(table.jobs[0][0].slots, (std::vector<Slot>{slot(0, 86)}));
  const auto placement = place(profile, {.cycle = milliseconds(100)});
  EXPECT_EQ(placement->bands.front().slot, slot(86, 87));
}

TEST(ShapingFact, P22_AServerForEachCallbackOfTheParkingChain) {
  // Rear filter, front filter, fusion, voxel grid and localiser; sources are over after 2 ms.
  const std::vector<Step> steps = {
      {.id = "sources of core 0", .core = 0, .length = milliseconds(2)},
      {.id = "sources of core 1", .core = 1, .length = milliseconds(2)},
      {.id = "rear", .core = 1, .length = milliseconds(21), .after = {0}},
      {.id = "front", .core = 0, .length = milliseconds(31), .after = {0}},
      {.id = "fusion", .core = 1, .length = milliseconds(4), .after = {2, 3}},
      {.id = "voxel grid", .core = 1, .length = milliseconds(10), .after = {4}},
      {.id = "localiser", .core = 1, .length = milliseconds(51), .after = {5}},
  };
  const std::vector<Slot> slots = callback_servers(steps, milliseconds(100)).value();
  EXPECT_EQ(
      (std::vector<Slot>(slots.begin() + 2, slots.end())),
      (std::vector<Slot>{slot(2, 23), slot(2, 33), slot(33, 37), slot(37, 47), slot(47, 98)}));
  const auto refused = callback_servers(steps, milliseconds(97));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("localiser"));
}

TEST(JointTable, ChainsOfOneCoreGetTheirTimeBeforeTheirDeadlines) {
  const std::vector<Demand> demands = {
      {.id = "fast", .period = milliseconds(20), .alone = up_to(5)},
      {.id = "slow", .period = milliseconds(30), .alone = up_to(14)},
  };
  const JointTable table = joint_table(demands, milliseconds(1), milliseconds(1)).value();
  EXPECT_EQ(table.cycle, milliseconds(60));
  EXPECT_EQ(table.jobs[0].size(), 3U);
  EXPECT_EQ(table.jobs[1].size(), 2U);
  Duration used{};
  std::vector<Slot> all;
  for (std::size_t chain = 0; chain < demands.size(); ++chain) {
    for (const Job& job : table.jobs[chain]) {
      Duration time{};
      for (const Slot& each : job.slots) {
        EXPECT_GE(each.start, job.release);
        EXPECT_LE(each.end, job.release + demands[chain].period);
        time += each.end - each.start;
        all.push_back(each);
      }
      EXPECT_EQ(time, demands[chain].alone.max() + milliseconds(1));
      used += time;
    }
  }
  std::ranges::sort(all, {}, &Slot::start);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LE(all[i - 1].end, all[i].start);
  EXPECT_EQ(used, milliseconds(3 * 6 + 2 * 15));
  // "fast" runs first at 0, and "slow" goes on at 20, when its deadline is the earlier one.
  EXPECT_EQ(table.jobs[1][0].slots.front(), slot(6, 21));
  EXPECT_EQ(table.latencies[1].min(), milliseconds(1));
  EXPECT_EQ(table.latencies[1].max(), milliseconds(20));
  EXPECT_EQ(table.latencies[0].count(), 15U);
}

TEST(JointTable, AFullCoreIsServedAndMoreIsRefused) {
  std::vector<Demand> demands = {
      {.id = "a", .period = milliseconds(10), .alone = up_to(4)},
      {.id = "b", .period = milliseconds(20), .alone = up_to(9)},
  };
  EXPECT_TRUE(joint_table(demands, milliseconds(1), milliseconds(1)).has_value());
  const auto refused = joint_table(demands, milliseconds(1), milliseconds(2));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("at most 1"));
  demands[0].period = milliseconds(10'007);
  demands[1].period = milliseconds(100'003);
  EXPECT_THAT(joint_table(demands, milliseconds(1), milliseconds(1)).error().message,
              HasSubstr("divide each other"));
}

}  // namespace
}  // namespace takt::shaping
