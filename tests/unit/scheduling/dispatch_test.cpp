#include "takt/scheduling/dispatch.hpp"

#include <gmock/gmock.h>

#include "takt/scheduling/description.hpp"

namespace takt::scheduling {
namespace {

using testing::ElementsAre;

Instant at(int time) { return Instant(Duration(time)); }

PolicyDescription described(Rule rule, std::size_t callbacks) {
  PolicyDescription description{.rule = rule};
  for (std::size_t i = 0; i < callbacks; ++i) {
    description.callbacks.push_back({.category = Category::subscription,
                                     .priority = static_cast<std::int64_t>(i),
                                     .deadline = Duration(100)});
  }
  return description;
}

Dispatch dispatch(const PolicyDescription& description, std::size_t threads = 1,
                  const CallbackGroups& groups = {}) {
  Dispatch made(threads);
  made.replace(make_policy(description, 4), description.callbacks.size(), description.own_origin,
               groups);
  return made;
}

/// Payloads are numbered by the tests.
std::optional<std::size_t> release(Dispatch& dispatch, std::size_t callback, int time,
                                   std::size_t payload) {
  return dispatch.release(LocalIndex(callback), at(time), at(time), payload);
}

std::optional<Job> next(Dispatch& dispatch) {
  Job job;
  return dispatch.next(job) ? std::optional(job) : std::nullopt;
}

/// Payloads in the order in which they run, one after the other.
std::vector<std::size_t> run(Dispatch& dispatch) {
  std::vector<std::size_t> order;
  while (const auto job = next(dispatch)) {
    order.push_back(job->instance.payload);
    dispatch.completed(*job);
  }
  return order;
}

TEST(Dispatch, RunsInTheOrderOfThePolicy) {
  Dispatch d = dispatch(described(Rule::priority, 3));
  release(d, 0, 0, 10);
  release(d, 2, 1, 12);
  release(d, 1, 2, 11);
  EXPECT_EQ(d.waiting(), 3U);
  EXPECT_THAT(run(d), ElementsAre(12, 11, 10));
  EXPECT_EQ(d.waiting(), 0U);
  EXPECT_EQ(d.completed(), 3);
  EXPECT_EQ(d.polling_points(), 0U) << "nothing is polled";
}

TEST(Dispatch, APollingPointAdmitsOneInstanceOfEachCallback) {
  Dispatch d = dispatch(described(Rule::ready_set, 2));
  release(d, 1, 0, 20);
  release(d, 1, 1, 21);
  const auto first = next(d);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->instance.payload, 20U);
  EXPECT_EQ(d.polling_points(), 1U);
  release(d, 0, 2, 10);
  d.completed(*first);
  // Both come at the next polling point, in the order of registration.
  EXPECT_THAT(run(d), ElementsAre(10, 21));
  EXPECT_EQ(d.polling_points(), 3U) << "the last one finds nothing";
}

TEST(Dispatch, AFullQueueDisplacesItsOldest) {
  Dispatch d = dispatch(described(Rule::first_released, 2));
  d.limit_queue(LocalIndex(0), 2);
  EXPECT_EQ(release(d, 0, 0, 1), std::nullopt);
  EXPECT_EQ(release(d, 0, 1, 2), std::nullopt);
  EXPECT_EQ(release(d, 1, 2, 9), std::nullopt);
  EXPECT_EQ(release(d, 0, 3, 3), 1U);
  EXPECT_EQ(d.waiting(LocalIndex(0)), 2U);
  EXPECT_THAT(run(d), ElementsAre(2, 3, 9)) << "2 runs in the place of 1, which is lost";
}

TEST(Dispatch, ADisplacedInstanceTakesItsDeadlineWithIt) {
  for (const Rule rule : {Rule::deadline, Rule::root_deadline}) {
    Dispatch d = dispatch(described(rule, 2));
    d.limit_queue(LocalIndex(0), 1);
    EXPECT_EQ(release(d, 0, 0, 1), std::nullopt);
    EXPECT_EQ(release(d, 1, 5, 9), std::nullopt);
    EXPECT_EQ(release(d, 0, 8, 2), 1U);
    EXPECT_THAT(run(d), ElementsAre(9, 2));
  }
}

TEST(Dispatch, ATimersNewerExpiryDisplacesTheOlderOneOfAChain) {
  PolicyDescription description = described(Rule::chain_deadline, 2);
  description.chains = {{.callbacks = {LocalIndex(0), LocalIndex(1)},
                         .relative_deadline = Duration(50),
                         .period = Duration(50)}};
  Dispatch d = dispatch(description);
  EXPECT_EQ(release(d, 0, 0, 1), std::nullopt);
  EXPECT_EQ(release(d, 0, 50, 2), 1U);
  EXPECT_THAT(run(d), ElementsAre(2));
}

TEST(Dispatch, TheGraphAwareExecutorRunsTheInstancesOfTheNewestRootFirst) {
  PolicyDescription description = described(Rule::root_priority, 3);
  description.callbacks[1].is_root = false;
  description.callbacks[2].priority = 1;
  Dispatch d = dispatch(description);
  const auto run_root = [&](std::size_t root, std::vector<std::size_t> sent) {
    release(d, root, 0, 1);
    const auto job = next(d);
    ASSERT_TRUE(job);
    for (const std::size_t payload : sent) release(d, 1, 1, payload);
    d.completed(*job);
  };
  run_root(0, {2, 3});
  run_root(2, {4, 5});
  EXPECT_THAT(run(d), ElementsAre(4, 5, 2, 3));
}

TEST(Dispatch, AGroupRunsOneInstanceAtATimeOnSeveralThreads) {
  const CallbackGroups groups{.exclusive = {{LocalIndex(0), LocalIndex(1)}},
                              .reentrant = {LocalIndex(2)}};
  Dispatch d = dispatch(described(Rule::first_released, 4), 4, groups);
  release(d, 0, 0, 0);
  release(d, 1, 1, 1);
  release(d, 2, 2, 2);
  release(d, 2, 3, 22);
  release(d, 3, 4, 3);
  release(d, 3, 5, 33);
  EXPECT_EQ(d.waiting_beside(), 6U);
  const auto zero = next(d);
  EXPECT_EQ(d.waiting_beside(), 4U) << "without 1, which may not run beside 0";
  const auto two = next(d);
  const auto again = next(d);
  const auto three = next(d);
  EXPECT_EQ(zero->instance.payload, 0U);
  EXPECT_EQ(two->instance.payload, 2U) << "1 excludes 0, which runs";
  EXPECT_EQ(again->instance.payload, 22U) << "reentrant";
  EXPECT_EQ(three->instance.payload, 3U);
  EXPECT_FALSE(next(d)) << "in no group it excludes itself";
  EXPECT_EQ(d.waiting_beside(), 0U);
  d.completed(*zero);
  EXPECT_EQ(d.waiting_beside(), 1U);
  EXPECT_EQ(next(d)->instance.payload, 1U);
  d.completed(*three);
  EXPECT_EQ(next(d)->instance.payload, 33U);
}

TEST(Dispatch, APollingPointPassesOverBusyGroups) {
  Dispatch d = dispatch(described(Rule::ready_set, 2), 2,
                        {.exclusive = {{LocalIndex(0), LocalIndex(1)}}, .reentrant = {}});
  release(d, 0, 0, 0);
  const auto zero = next(d);
  release(d, 1, 1, 1);
  EXPECT_FALSE(next(d));
  d.completed(*zero);
  EXPECT_THAT(run(d), ElementsAre(1));
}

TEST(Dispatch, WhatWaitsWaitsOnUnderAnotherPolicy) {
  Dispatch d = dispatch(described(Rule::first_released, 3), 2);
  release(d, 2, 0, 2);
  const auto running = next(d);
  release(d, 1, 1, 1);
  release(d, 0, 2, 0);
  release(d, 2, 3, 22);
  const PolicyDescription fewer = described(Rule::first_released, 2);
  const auto waited = d.replace(make_policy(fewer, 4), 2, false);
  std::vector<std::size_t> payloads;
  for (const Instance& instance : waited) payloads.push_back(instance.payload);
  EXPECT_THAT(payloads, ElementsAre(1, 0, 22)) << "in the order of their release";
  // 2 is callback 0 now, 0 is callback 1, and 1 is gone.
  d.wait_on(LocalIndex(1), waited[1]);
  d.wait_on(LocalIndex(0), waited[2]);
  EXPECT_EQ(d.waiting_beside(), 2U);
  d.runs_on(LocalIndex(0));
  EXPECT_EQ(d.waiting_beside(), 1U);
  const auto after = next(d);
  EXPECT_EQ(after->instance.payload, 0U);
  EXPECT_FALSE(next(d)) << "an instance of 2 still runs";
  d.completed(*running, LocalIndex(0));
  EXPECT_EQ(next(d)->instance.payload, 22U);
}

TEST(Dispatch, SeveralThreadsCannotShareWhatDecidesForOne) {
  for (const Rule rule : {Rule::root_priority, Rule::root_deadline, Rule::table}) {
    PolicyDescription description = described(rule, 1);
    description.cycle = Duration(10);
    description.slots = {{Duration(0), Duration(5), LocalIndex(0)}};
    const auto policy = make_policy(description, 4);
    EXPECT_TRUE(Dispatch(1).check(*policy));
    EXPECT_EQ(Dispatch(2).check(*policy).error().message,
              "this policy decides for one thread; 2 threads cannot share it");
  }
}

TEST(Dispatch, TellsAPolicyThatGoesByTheTimeWhatTimeItIs) {
  PolicyDescription description = described(Rule::table, 2);
  description.cycle = Duration(10);
  description.slots = {{Duration(4), Duration(6), LocalIndex(1)}};
  Dispatch d = dispatch(description);
  ASSERT_TRUE(d.goes_by_time());
  release(d, 1, 0, 1);
  d.advance(at(0));
  EXPECT_FALSE(next(d));
  EXPECT_EQ(d.next_start(), at(4));
  d.advance(at(4));
  EXPECT_THAT(run(d), ElementsAre(1));
}

TEST(Dispatch, DeadlinesCountFromTheOriginOrFromTheActivation) {
  for (const bool own : {false, true}) {
    PolicyDescription description = described(Rule::deadline, 2);
    description.own_origin = own;
    Dispatch d = dispatch(description);
    d.release(LocalIndex(0), at(5), at(5), 0);
    d.release(LocalIndex(1), at(10), at(1), 1);
    EXPECT_THAT(run(d), own ? ElementsAre(0, 1) : ElementsAre(1, 0));
  }
}

}  // namespace
}  // namespace takt::scheduling
