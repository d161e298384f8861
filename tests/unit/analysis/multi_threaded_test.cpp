#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "executors/all_busy.hpp"
#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/generation/random.hpp"

namespace takt::analysis {
namespace {

using model::CallbackIndex;
using model::ModelBuilder;

class MultiThreadedExecutor : public testing::Test {
 protected:
  explicit MultiThreadedExecutor(std::int64_t threads = 2) { set_threads(threads); }

  void set_threads(std::int64_t threads) { builder_.model().executors[0].threads = threads; }
  /// A timer of a node; an empty node: reentrant.
  CallbackIndex timer(std::string node, std::int64_t wcet, std::int64_t period) {
    return of(std::move(node),
              builder_.timer(executor_, Duration{wcet}, model::every(Duration{period})));
  }
  CallbackIndex subscription(std::string node, std::int64_t wcet) {
    return of(std::move(node), builder_.subscription(executor_, Duration{wcet}));
  }
  [[nodiscard]] Bounds analysed() { return analyze(builder_.model()); }
  [[nodiscard]] Duration bound(CallbackIndex callback) {
    return analysed().callbacks[callback.value()].bound.value_or(Duration{-1});
  }

  ModelBuilder builder_;
  model::ExecutorIndex executor_ =
      builder_.executor(model::DedicatedSupply{}, model::ExecutorKind::multi_threaded);

 private:
  CallbackIndex of(std::string node, CallbackIndex callback) {
    model::Callback& made = builder_.model().callbacks[callback.value()];
    if (node.empty()) made.callback_group = "reentrant";
    made.node = std::move(node);
    return callback;
  }
};

/// As if each had an executor of its own: callback-isolated executors.
TEST_F(MultiThreadedExecutor, GroupsThatAreNoMoreThanThreadsDoNotDelayEachOther) {
  const auto a = timer("a", 10, 100);
  const auto long_one = timer("b", 900, 1000);
  EXPECT_EQ(bound(a), Duration{10});
  EXPECT_EQ(bound(long_one), Duration{900});
  const auto c = timer("c", 10, 1000);
  EXPECT_GT(bound(a), Duration{10});
  set_threads(3);
  EXPECT_EQ(bound(a), Duration{10});
  EXPECT_EQ(bound(c), Duration{10});
}

/// Both others must run at once to keep a third one waiting: for as long as the shorter one runs.
TEST_F(MultiThreadedExecutor, AllThreadsAreBusyWithDifferentGroupsOnly) {
  const auto a = timer("a", 10, 1000);
  timer("b", 100, 1000);
  timer("c", 30, 1000);
  EXPECT_EQ(bound(a), Duration{10 + 30});
}

TEST_F(MultiThreadedExecutor, AReentrantCallbackThatIsNeverLateRunsOnOneThreadAtATime) {
  const auto a = timer("a", 10, 1000);
  timer("", 100, 1000);
  EXPECT_EQ(bound(a), Duration{10});
}

TEST_F(MultiThreadedExecutor, MembersOfAGroupWaitForEachOther) {
  const auto a = timer("a", 10, 1000);
  const auto b = timer("a", 30, 1000);
  timer("c", 500, 1000);
  EXPECT_EQ(bound(a), Duration{40});
  EXPECT_EQ(bound(b), Duration{40});
}

/// A chain from node to node: what delays one of its callbacks does not delay the other as well.
TEST_F(MultiThreadedExecutor, AChainIsDelayedOnceByWhatComesOnce) {
  const auto first = timer("a", 10, 1000);
  const auto second = subscription("a", 20);
  timer("a", 300, 10'000);
  builder_.chain({first, second});
  const Bounds bounds = analysed();
  EXPECT_EQ(bounds.callbacks[0].bound, Duration{330});
  EXPECT_EQ(bounds.callbacks[1].bound, Duration{330});
  EXPECT_EQ(bounds.chains[0].bound, Duration{330});
}

TEST_F(MultiThreadedExecutor, WithOneThreadIsTheDefaultExecutor) {
  const auto a = timer("a", 10, 100);
  timer("b", 30, 100);
  timer("b", 20, 200);
  set_threads(1);
  const Duration shared = bound(a);
  builder_.model().executors[0].kind = model::ExecutorKind::single_threaded;
  EXPECT_EQ(bound(a), shared);
}

/// Reservations of 1 in 5 on two threads, both exhausted when c0 is activated. c1, on one of them,
/// goes on after 7 and ends after 8; the same thread takes c0 then, and supplies nothing again
/// until 13. The other one supplies nothing until 8.
TEST_F(MultiThreadedExecutor, AThreadThatIsFreeButExhaustedTakesNothing) {
  builder_.model().executors[0].supply =
      model::ReservationSupply{Duration{1}, Duration{5}, Duration{5}};
  const auto c0 = timer("a", 1, 1000);
  timer("b", 1, 1000);
  EXPECT_GE(bound(c0), Duration{14});
}

/// Two threads may hand a group's instances to and fro so that each instance waits for 8 (see
/// docs/analysis-theory.md): one every 10, whatever the load.
TEST_F(MultiThreadedExecutor, ThreadsThatLackSupplyInTurnHaveAGroupFallBehind) {
  builder_.model().executors[0].supply =
      model::ReservationSupply{Duration{6}, Duration{10}, Duration{10}};
  const auto a = timer("a", 2, 11);
  EXPECT_GE(bound(a), Duration{10});
  builder_.model().callbacks[a.value()].activation = model::every(Duration{9});
  EXPECT_EQ(bound(a), Duration{-1});
}

/// What two threads are supplied together is more than what they need while one of them holds an
/// instance of the group, though instances and pauses one after the other leave no time.
TEST_F(MultiThreadedExecutor, AllThreadsTogetherAreSuppliedMoreThanTheyCanWaste) {
  builder_.model().executors[0].supply =
      model::ReservationSupply{Duration{5}, Duration{10}, Duration{10}};
  const auto a = timer("a", 1, 13);
  timer("b", 1, 20);
  EXPECT_GE(bound(a), Duration{11});
}

/// Each of the group's instances may wait for 12 on a third thread, but no more than that.
TEST_F(MultiThreadedExecutor, BetweenTwoInstancesOfAGroupTheLastThreadWaitsOnce) {
  set_threads(3);
  builder_.model().executors[0].supply =
      model::ReservationSupply{Duration{4}, Duration{10}, Duration{10}};
  const auto a = timer("a", 1, 18);
  timer("b", 1, 40);
  EXPECT_GE(bound(a), Duration{13});
  builder_.model().callbacks[a.value()].activation = model::every(Duration{12});
  EXPECT_EQ(bound(a), Duration{-1});
}

/// Since the group was quiet, `first` has been activated once, and so has `second`, however long
/// `first` may take. All callbacks together need more than a processor, so no window of the whole
/// executor shows it.
TEST_F(MultiThreadedExecutor, WhatAGroupSendsToItselfCarriesNoJitter) {
  const auto first = timer("a", 10, 100);
  const auto second = subscription("a", 20);
  builder_.edge(first, second);
  timer("a", 60, 1000);
  timer("b", 900, 1000);
  EXPECT_EQ(bound(second), Duration{10 + 20 + 60});
}

/// The longest overhead of each executor in a row need not be spread over a callback's instances:
/// those of the other thread may have the short ones.
TEST_F(MultiThreadedExecutor, EachInstanceMayHaveTheLongestOverhead) {
  const auto a = builder_.timer(executor_, Duration{1}, model::bursts(2, Duration{1000}));
  builder_.model().callbacks[a.value()].node = "a";
  timer("b", 1, 1000);
  builder_.model().executors[0].overhead = {Duration{4}, Duration{5}};
  EXPECT_EQ(bound(a), Duration{2 * (1 + 4)});
}

/// Teper et al. (EMSOFT 2024): on two threads of ROS 2's executor, the last one may starve, though
/// its group and the threads have time enough.
TEST_F(MultiThreadedExecutor, WhatMayStarveHasNoBound) {
  timer("a", 50, 100);
  timer("b", 50, 100);
  timer("g", 50, 100);
  const auto starving = timer("g", 1, 100);
  EXPECT_THAT(analysed().callbacks[starving.value()].reason,
              testing::HasSubstr("needs 1.01 of a thread"));
}

/// By the definition: for every X and every choice of carriers.
Duration longest_by_trying(const std::vector<SharedWork>& work, std::int64_t threads,
                           std::size_t carriers) {
  Duration longest{0};
  for (unsigned carrying = 0; carrying < 1U << work.size(); ++carrying) {
    if (static_cast<std::size_t>(__builtin_popcount(carrying)) > carriers) continue;
    for (Duration x{0}; x < Duration{80}; ++x) {
      Duration sum{0};
      for (std::size_t i = 0; i < work.size(); ++i) {
        const Duration all = (carrying >> i & 1U) != 0 ? work[i].carried : work[i].fresh;
        sum += std::min(all, work[i].width * x);
      }
      if (threads * x <= sum) longest = std::max(longest, x);
    }
  }
  return longest;
}

TEST(AllThreadsBusy, IsTheGreatestTimeByItsDefinition) {
  generation::Random random(16);
  for (int n = 0; n < 3'000; ++n) {
    std::vector<SharedWork> work(static_cast<std::size_t>(random.between(0, 5)));
    for (SharedWork& each : work) {
      each.fresh = Duration{random.between(0, 20)};
      each.carried = each.fresh + Duration{random.between(0, 15)};
      each.width = random.between(1, 2);
    }
    const std::int64_t threads = random.between(2, 4);
    const auto carriers = static_cast<std::size_t>(random.between(0, 5));
    const Duration expected = longest_by_trying(work, threads, carriers);
    EXPECT_EQ(longest_all_busy(work, threads, carriers), expected) << n;
  }
}

}  // namespace
}  // namespace takt::analysis
