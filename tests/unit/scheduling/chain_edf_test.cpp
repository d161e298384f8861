#include "takt/scheduling/chain_edf.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "virtual_executor.hpp"

namespace takt::scheduling {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Chain = ChainEdfPolicy::Chain;

/// The two chains of edf-executor 7.1 (Table 1), in milliseconds.
struct IllustrativeSet {
  std::vector<TestCallback> callbacks;
  std::vector<Chain> chains;
};

IllustrativeSet illustrative_set() {
  IllustrativeSet set;
  for (const int length : {3, 7}) {
    Chain chain{.callbacks = {}, .relative_deadline = Duration(1000), .period = Duration(1000)};
    for (int i = 0; i < length; ++i) {
      const LocalIndex index(set.callbacks.size());
      if (i > 0) set.callbacks.back().triggers = {index};
      set.callbacks.push_back({.name = std::to_string(index.value()),
                               .cost = Duration(i == 0 ? 109 : 131),
                               .triggers = {}});
      chain.callbacks.push_back(index);
    }
    set.chains.push_back(chain);
  }
  return set;
}

/// Chain number, release and finish of every completed instance, and the releases never started.
struct Outcome {
  std::vector<std::int64_t> finishes;
  std::vector<int> chains;
  std::map<int, std::vector<std::int64_t>> dropped;
};

Outcome schedule(DeadlineRule rule, std::int64_t end) {
  const IllustrativeSet set = illustrative_set();
  ChainEdfPolicy policy(set.callbacks.size(), set.chains, rule, 32);
  std::vector<std::int64_t> periods(set.callbacks.size(), 0);
  periods[0] = periods[3] = 1000;
  const std::vector<Arrival> arrivals = periodic(periods, end);
  const std::vector<CompletedInstance> runs = run(policy, set.callbacks, arrivals);
  Outcome outcome;
  std::vector<bool> started(arrivals.size(), false);
  for (const CompletedInstance& instance : runs) {
    started[instance.job] = true;
    if (instance.callback == LocalIndex(2) || instance.callback == LocalIndex(9)) {
      outcome.finishes.push_back(instance.end.time_since_epoch().count());
      outcome.chains.push_back(instance.callback == LocalIndex(2) ? 1 : 2);
    }
  }
  for (std::size_t job = 0; job < arrivals.size(); ++job) {
    if (started[job]) continue;
    const int chain = arrivals[job].callback == LocalIndex(0) ? 1 : 2;
    outcome.dropped[chain].push_back(arrivals[job].when.time_since_epoch().count());
  }
  return outcome;
}

TEST(ChainEdfPolicy, SchedulesTheIllustrativeSetWithFrozenDeadlines) {  // B-8, and 7.1
  const Outcome outcome = schedule(DeadlineRule::frozen_at_completion, 11'000);
  const std::vector<std::int64_t> first(outcome.finishes.begin(), outcome.finishes.begin() + 17);
  EXPECT_THAT(first, ElementsAre(371, 1266, 1637, 2532, 2903, 3798, 4169, 5064, 5435, 6330, 6701,
                                 7596, 7967, 8862, 9233, 10128, 10499));
  EXPECT_THAT(std::vector(outcome.chains.begin(), outcome.chains.begin() + 8),
              ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
  EXPECT_THAT(outcome.dropped.at(1), ElementsAre(4000, 9000));
  EXPECT_THAT(outcome.dropped.at(2), ElementsAre(3000, 8000));
}

TEST(ChainEdfPolicy, DropsOnlyTheLaterChainWithDeadlinesPerInstance) {  // B-9
  const Outcome outcome = schedule(DeadlineRule::per_instance, 120'000);
  EXPECT_FALSE(outcome.dropped.contains(1));
  const std::vector<std::int64_t>& dropped = outcome.dropped.at(2);
  EXPECT_THAT(std::vector(dropped.begin(), dropped.begin() + 6),
              ElementsAre(3000, 6000, 10000, 13000, 16000, 20000));
  EXPECT_NEAR(static_cast<double>(dropped.size()) / 120, 0.30, 0.02);
}

TEST(ChainEdfPolicy, OrdersByDeadlineWhateverTheKind) {  // B-2
  const std::vector<Chain> chains = {
      {{LocalIndex(0)}, Duration(7), Duration(100)},
      {{LocalIndex(1)}, Duration(5), std::nullopt},
  };
  ChainEdfPolicy policy(2, chains, DeadlineRule::per_instance, 4);
  policy.release(LocalIndex(0), at(0));
  policy.release(LocalIndex(1), at(0));
  EXPECT_EQ(policy.next(), LocalIndex(1));
  policy.completed(LocalIndex(1));
  EXPECT_EQ(policy.next(), LocalIndex(0));
}

TEST(ChainEdfPolicy, HasOneInstanceOfAChainInProgress) {  // B-4
  const std::vector<Chain> chains = {{{LocalIndex(0), LocalIndex(1)}, Duration(10), Duration(10)}};
  ChainEdfPolicy policy(2, chains, DeadlineRule::per_instance, 4);
  policy.release(LocalIndex(0), at(0));
  EXPECT_EQ(policy.next(), LocalIndex(0));
  policy.release(LocalIndex(0), at(10));
  policy.release(LocalIndex(1), at(12), at(0));
  EXPECT_EQ(policy.next(), std::nullopt) << "the first callback still runs";
  policy.completed(LocalIndex(0));
  EXPECT_EQ(policy.next(), LocalIndex(1));
  policy.completed(LocalIndex(1));
  EXPECT_EQ(policy.next(), LocalIndex(0));
}

TEST(ChainEdfPolicy, SharesATimerBetweenChains) {  // edf-executor 4, Table 3's tau1
  const std::vector<Chain> chains = {{{LocalIndex(0), LocalIndex(1)}, Duration(80), Duration(80)},
                                     {{LocalIndex(0), LocalIndex(2)}, Duration(40), Duration(80)},
                                     {{LocalIndex(3)}, Duration(50), Duration(80)}};
  ChainEdfPolicy policy(4, chains, DeadlineRule::per_instance, 4);
  policy.release(LocalIndex(3), at(0));
  policy.release(LocalIndex(0), at(0));
  EXPECT_EQ(policy.next(), LocalIndex(0)) << "its earliest deadline is 40";
  policy.release(LocalIndex(1), at(2), at(0));
  policy.release(LocalIndex(2), at(2), at(0));
  policy.completed(LocalIndex(0));
  for (const std::size_t expected : {2U, 3U, 1U}) {
    const auto next = policy.next();
    ASSERT_EQ(next, LocalIndex(expected));
    policy.completed(*next);
  }
}

TEST(ChainEdfPolicy, GivesUpAnInstanceWhoseMessageNeverCame) {
  const std::vector<Chain> chains = {{{LocalIndex(0), LocalIndex(1)}, Duration(10), Duration(10)}};
  ChainEdfPolicy policy(2, chains, DeadlineRule::frozen_at_completion, 4);
  policy.release(LocalIndex(0), at(0));
  EXPECT_EQ(policy.next(), LocalIndex(0));
  policy.completed(LocalIndex(0));
  EXPECT_EQ(policy.next(), std::nullopt);
  policy.release(LocalIndex(0), at(10));
  EXPECT_EQ(policy.next(), LocalIndex(0));
}

}  // namespace
}  // namespace takt::scheduling
