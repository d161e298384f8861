#include "takt/scheduling/events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "virtual_executor.hpp"

namespace takt::scheduling {
namespace {

using testing::ElementsAre;

/// component-cps 3.3: tau1 = (3, 10), tau2 = (10, 30), tau3 = (10, 30).
const std::vector<TestCallback> running_example = {
    {"1", Duration(3), {}}, {"2", Duration(10), {}}, {"3", Duration(10), {}}};
const std::vector<Arrival> running_releases = periodic({10, 30, 30}, 30);

std::vector<LocalIndex> indices(std::initializer_list<std::size_t> values) {
  return {values.begin(), values.end()};
}

TEST(EventsPolicies, RunTheRunningExampleFirstInFirstOut) {  // A-29, Fig. 3.2c
  FifoPolicy policy(3, 16);
  EXPECT_EQ(describe(running_example, run(policy, running_example, running_releases)),
            "1 [0,3) 2 [3,13) 3 [13,23) 1 [23,26) 1 [26,29)");
}

TEST(EventsPolicies, RunTheRunningExampleByRate) {  // A-29, Fig. 3.2d
  const std::vector<Duration> periods = {Duration(10), Duration(30), Duration(30)};
  FixedPriorityPolicy policy(rate_monotonic(periods), 16);
  EXPECT_EQ(describe(running_example, run(policy, running_example, running_releases)),
            "1 [0,3) 2 [3,13) 1 [13,16) 3 [16,26) 1 [26,29)");
}

TEST(EventsPolicies, RunTheEarliestDeadlineFirst) {
  const std::vector<Duration> deadlines = {Duration(10), Duration(12), Duration(30)};
  EdfPolicy policy(deadlines, 16);
  // At 3 the deadline 12 wins; at 13 tau1's second instance (20) over tau3 (30).
  EXPECT_EQ(describe(running_example, run(policy, running_example, running_releases)),
            "1 [0,3) 2 [3,13) 1 [13,16) 3 [16,26) 1 [26,29)");
}

TEST(EventsPolicies, CountDeadlinesFromTheOrigin) {
  const std::vector<Duration> deadlines = {Duration(10), Duration(20)};
  EdfPolicy policy(deadlines, 4);
  policy.release(LocalIndex(0), at(50), at(50));
  policy.release(LocalIndex(1), at(50), at(35));
  EXPECT_EQ(policy.next(), LocalIndex(1)) << "55 before 60";
  EXPECT_EQ(policy.next(), LocalIndex(0));
  EXPECT_EQ(policy.next(), std::nullopt);
}

TEST(EventsPolicies, BreakTiesByRelease) {
  const std::vector<std::int64_t> priorities = {5, 5, 7};
  FixedPriorityPolicy policy(priorities, 4);
  for (const std::size_t i : {1U, 0U, 2U, 1U}) policy.release(LocalIndex(i), at(0));
  std::vector<std::size_t> order;
  while (const auto next = policy.next()) order.push_back(next->value());
  EXPECT_THAT(order, ElementsAre(2, 1, 0, 1));
}

TEST(EventsPolicies, KeepHeldCallbacksAndTheirPlace) {
  FifoPolicy policy(3, 4);
  for (const std::size_t i : {0U, 1U, 2U}) policy.release(LocalIndex(i), at(0));
  policy.hold(LocalIndex(0));
  EXPECT_EQ(policy.next(), LocalIndex(1));
  policy.release(LocalIndex(0), at(1));
  policy.resume(LocalIndex(0));
  EXPECT_EQ(policy.next(), LocalIndex(0));
  EXPECT_EQ(policy.next(), LocalIndex(2));
  EXPECT_EQ(policy.next(), LocalIndex(0));
}

TEST(EventsPolicies, ReadPicasPrioritiesFromChains) {
  // The later callbacks of a chain first; callback 1 belongs to both and counts for the first.
  const std::vector<std::vector<LocalIndex>> chains = {indices({0, 1, 2}), indices({3, 1, 4})};
  const std::vector<std::int64_t> priorities = chain_priorities(chains, 6);
  EXPECT_GT(priorities[2], priorities[1]);
  EXPECT_GT(priorities[1], priorities[0]);
  EXPECT_GT(priorities[0], priorities[4]);
  EXPECT_GT(priorities[4], priorities[3]);
  EXPECT_GT(priorities[3], priorities[5]);
}

/// Against a list that is searched for the smallest key.
void compare_with_list(Policy& policy, const std::vector<std::int64_t>& priorities,
                       std::mt19937& random) {
  std::vector<LocalIndex> list;  // in the order of release
  std::vector<bool> held(priorities.size(), false);
  for (int step = 0; step < 200; ++step) {
    const std::size_t which =
        std::uniform_int_distribution<std::size_t>(0, priorities.size() - 1)(random);
    const LocalIndex callback(which);
    switch (std::uniform_int_distribution(0, 3)(random)) {
      case 0:
        held[which] ? policy.resume(callback) : policy.hold(callback);
        held[which] = !held[which];
        break;
      case 1: {
        auto best = list.end();
        for (auto it = list.begin(); it != list.end(); ++it) {
          if (held[it->value()]) continue;
          if (best == list.end() || priorities[it->value()] > priorities[best->value()]) {
            best = it;
          }
        }
        const auto next = policy.next();
        ASSERT_EQ(next.has_value(), best != list.end());
        if (next) {
          ASSERT_EQ(*next, *best);
          list.erase(best);
        }
        break;
      }
      default:
        policy.release(callback, at(step));
        list.push_back(callback);
    }
  }
}

TEST(EventsPolicies, AgreeWithASortedListOnRandomOperations) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    constexpr std::size_t count = 6;
    std::vector<std::int64_t> priorities;
    for (std::size_t i = 0; i < count; ++i) {
      priorities.push_back(std::uniform_int_distribution(0, 3)(random));
    }
    FixedPriorityPolicy policy(priorities, 8);
    compare_with_list(policy, priorities, random);
    FifoPolicy first_in_first_out(count, 8);
    compare_with_list(first_in_first_out, std::vector<std::int64_t>(count, 0), random);
  }
}

}  // namespace
}  // namespace takt::scheduling
