#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/generation/random_model.hpp"

/// Callbacks without bound are told apart by the reason.
namespace takt::analysis {
namespace {

using model::CallbackIndex;
using model::CallbackKind;
using model::ExecutorKind;
using model::ModelBuilder;

TEST(Divergence, OverloadedExecutorSaysHowMuchItNeeds) {
  ModelBuilder builder;
  const auto e =
      builder.executor(model::ReservationSupply{Duration{600}, Duration{1000}, Duration{1000}});
  builder.timer(e, Duration{500}, model::every(Duration{1000}));
  builder.timer(e, Duration{1500}, model::every(Duration{2000}));
  const auto bounds = analyze(builder.model(), {.method = Method::busy_window});
  EXPECT_FALSE(bounds.converged);
  for (const auto& callback : bounds.callbacks) {
    EXPECT_EQ(callback.bound, std::nullopt);
    EXPECT_EQ(callback.reason, "executor \"e0\" needs 1.25 of a processor, its supply gives 0.60");
  }
}

/// Lemma 4: a polled callback runs once per processing window, so the round-robin analysis bounds
/// the others whatever one of them does.
TEST(Divergence, RoundRobinShieldsOthersFromAnOverload) {
  ModelBuilder builder;
  const auto e = builder.executor();
  builder.subscription(e, Duration{20}, model::every(Duration{10}));
  builder.subscription(e, Duration{30}, model::every(Duration{1000}));
  const auto bounds = analyze(builder.model());
  EXPECT_EQ(bounds.callbacks[0].bound, std::nullopt);
  EXPECT_EQ(bounds.callbacks[0].reason,
            "executor \"e0\" needs 2.03 of a processor, its supply gives 1.00");
  // One instance of the other before the polling point, one after it, then itself.
  EXPECT_EQ(bounds.callbacks[1].bound, Duration{70});
  EXPECT_EQ(bounds.callbacks[1].by, "round_robin");
}

/// As far as times go: nothing is decided by the horizon.
constexpr Options by_round_robin{.method = Method::round_robin, .horizon = curves::longest_time};

/// A callback alone on a processor, with release jitter.
model::Model alone(Duration wcet, Duration period, Duration jitter) {
  ModelBuilder builder;
  builder.timer(builder.executor(), wcet,
                model::PeriodicActivation{.period = period, .jitter = jitter});
  return builder.model();
}

/// Alone, the round-robin bound is the least k · C with η((2k - 1) · C) <= k.
std::int64_t instances_in_bound(std::int64_t wcet, std::int64_t period, std::int64_t jitter) {
  std::int64_t k = 1;
  while (((2 * k - 1) * wcet + jitter - 1) / period + 1 > k) ++k;
  return k;
}

/// A response time counts twice in the round-robin analysis: before the instance, for what may
/// still be pending, and after it. So the threshold is at half a processor.
TEST(Divergence, OfTheRoundRobinAnalysisIsDecidedByLongRunRates) {
  constexpr std::int64_t period = 10'000'000;
  constexpr std::int64_t jitter = 9'000'000;
  for (const std::int64_t below : {2'000'000, 1'000'000, 100'000, 1'000, 10, 1}) {
    const std::int64_t wcet = period / 2 - below;
    const auto bounds =
        analyze(alone(Duration{wcet}, Duration{period}, Duration{jitter}), by_round_robin);
    EXPECT_EQ(bounds.callbacks[0].bound, Duration{wcet * instances_in_bound(wcet, period, jitter)})
        << below << " ns below the threshold";
  }
  for (const std::int64_t above : {0, 1, 10, 1'000, 100'000, 1'000'000, 2'000'000}) {
    const auto bounds = analyze(
        alone(Duration{period / 2 + above}, Duration{period}, Duration{jitter}), by_round_robin);
    EXPECT_EQ(bounds.callbacks[0].bound, std::nullopt) << above << " ns above the threshold";
    EXPECT_THAT(bounds.callbacks[0].reason, testing::HasSubstr("by the round-robin analysis"));
  }
}

TEST(Divergence, AtTheThresholdABoundIsFoundIfThereIsOne) {
  const auto bounds = analyze(alone(Duration{5}, Duration{10}, Duration{0}), by_round_robin);
  EXPECT_EQ(bounds.callbacks[0].bound, Duration{5});
}

TEST(Divergence, RoundRobinSaysWhatTheProcessingWindowsOfACallbackNeed) {
  ModelBuilder builder;
  const auto e = builder.executor();
  builder.timer(e, Duration{17}, model::every(Duration{20}));
  builder.timer(e, Duration{10}, model::every(Duration{100}));
  const auto bounds = analyze(builder.model(), by_round_robin);
  // Twice 17/20 of its own; of the other, 10/100, as it is rarer than the polling points.
  EXPECT_EQ(bounds.callbacks[0].reason,
            "with what its processing windows admit, \"c0\" needs 1.80 of a processor by the "
            "round-robin analysis, executor \"e0\" gives 1.00");
  // Twice 10/100, and 17/100 for the other, once for each polling point.
  EXPECT_NE(bounds.callbacks[1].bound, std::nullopt);
  EXPECT_TRUE(analyze(builder.model(), {.method = Method::busy_window}).converged);
}

/// Whatever has no bound, it is known why: no search has just been given up.
TEST(Divergence, OfTheRoundRobinAnalysisIsAlwaysProved) {
  generation::Shape shape{.most_callbacks = 12,
                          .shortest_period = Duration{100'000},
                          .longest_period = Duration{10'000'000},
                          .least_utilisation = 30,
                          .most_utilisation = 105,
                          .shortest_reservation_period = Duration{100'000},
                          .longest_reservation_period = Duration{1'000'000},
                          .overhead = 20};
  int without_bound = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto bounds = analyze(generation::random_model(shape, seed), by_round_robin);
    for (const auto& callback : bounds.callbacks) {
      if (callback.bound) continue;
      ++without_bound;
      EXPECT_THAT(callback.reason, testing::Not(testing::HasSubstr("not decided"))) << seed;
    }
  }
  EXPECT_GT(without_bound, 200);
}

TEST(Divergence, SuccessorsOfAnUnboundedCallbackSaySo) {
  ModelBuilder builder;
  const auto a = builder.executor();
  const auto b = builder.executor();
  const auto overload = builder.timer(a, Duration{20}, model::every(Duration{10}));
  const auto next = builder.subscription(b, Duration{1});
  builder.timer(b, Duration{1}, model::every(Duration{100}));
  builder.chain({overload, next});
  const auto busy_window = analyze(builder.model(), {.method = Method::busy_window});
  EXPECT_EQ(busy_window.callbacks[1].reason, "it is activated by \"c0\", which has no bound");
  EXPECT_EQ(busy_window.callbacks[2].reason,
            "nothing limits how often \"c1\" runs on its executor \"e1\": that is activated by "
            "\"c0\", which has no bound");
  EXPECT_EQ(busy_window.chains[0].reason,
            "callback \"c0\" has no bound: executor \"e0\" needs 2.00 of a processor, its supply "
            "gives 1.00");
  // The timer precedes the subscription, whose next instance waits for the next polling point.
  EXPECT_EQ(analyze(builder.model()).callbacks[2].bound, Duration{2});
}

TEST(Divergence, NothingBelowTheHorizon) {
  ModelBuilder builder;
  const auto e = builder.executor();
  builder.timer(e, Duration{5'000'000}, model::every(Duration{10'000'000}));
  const auto bounds =
      analyze(builder.model(), {.method = Method::combined, .horizon = Duration{4'000'000}});
  EXPECT_EQ(bounds.callbacks[0].reason,
            "not decided: no bound up to the analysis horizon of 4 ms, and no proof that there is "
            "none");
}

TEST(Divergence, ExecutorsWithoutAnalysisAreNotBoundedAsIfSingleThreaded) {
  ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, ExecutorKind::table_driven);
  builder.timer(e, Duration{1}, model::every(Duration{100}));
  const auto bounds = analyze(builder.model());
  EXPECT_EQ(bounds.callbacks[0].bound, std::nullopt);
  EXPECT_EQ(bounds.callbacks[0].reason,
            "executor \"e0\" is table-driven: give its slots in the model as \"table\", or in the "
            "option \"tables\", or choose another kind");
}

TEST(Divergence, NothingThatDependsOnAnUnclassifiableExecutorIsBounded) {
  ModelBuilder builder;
  const auto a = builder.executor();
  const auto b = builder.executor();
  const auto polled = builder.timer(a, Duration{1}, model::every(Duration{100}));
  const auto next = builder.subscription(b, Duration{1});
  builder.timer(b, Duration{1}, model::every(Duration{100}));
  builder.chain({polled, next});
  model::Model model = builder.model();
  ASSERT_TRUE(analyze(model).chains[0].bound);
  model.executors[0].unclassifiable = "it spins now and then";
  const auto bounds = analyze(model);
  EXPECT_EQ(bounds.callbacks[0].reason, "executor \"e0\" is unclassifiable: it spins now and then");
  EXPECT_EQ(bounds.callbacks[1].reason, "it is activated by \"c0\", which has no bound");
  EXPECT_EQ(bounds.chains[0].bound, std::nullopt);
}

/// Executors that feed each other: each bound makes the other one's activations more bunched.
TEST(Divergence, InfluenceCycleBetweenExecutorsTerminates) {
  for (const std::int64_t wcet : {10, 20, 30, 40, 45, 49, 50, 60}) {
    ModelBuilder builder;
    const auto a = builder.executor();
    const auto b = builder.executor();
    const auto a1 = builder.timer(a, Duration{wcet}, model::every(Duration{100}));
    const auto b1 = builder.timer(b, Duration{wcet}, model::every(Duration{100}));
    const auto a2 = builder.subscription(a, Duration{wcet});
    const auto b2 = builder.subscription(b, Duration{wcet});
    builder.edge(a1, b2);
    builder.edge(b1, a2);
    const auto bounds = analyze(builder.model());
    EXPECT_EQ(bounds.converged, wcet < 50) << wcet;
    EXPECT_EQ(bounds.callbacks[0].bound, bounds.callbacks[1].bound);
    EXPECT_EQ(bounds.callbacks[2].bound, bounds.callbacks[3].bound);
  }
}

/// Bounds that feed each other: on this side of the threshold there is one, however long, and on
/// the other the proof that there is none. Periods of 10 ms; thresholds are those of the long-run
/// rates.
constexpr std::int64_t common_period = 10'000'000;
constexpr Options unlimited{.method = Method::combined, .horizon = curves::longest_time};

void expect_bounds(const Bounds& bounds, std::int64_t least) {
  EXPECT_TRUE(bounds.converged);
  Duration longest{0};
  for (const auto& callback : bounds.callbacks) {
    longest = std::max(longest, callback.bound.value_or(Duration{0}));
  }
  EXPECT_GE(longest.count(), least);
}

void expect_endless(const Bounds& bounds, const std::vector<std::size_t>& callbacks) {
  for (const std::size_t c : callbacks) {
    EXPECT_EQ(bounds.callbacks[c].bound, std::nullopt);
    EXPECT_THAT(bounds.callbacks[c].reason, testing::HasSubstr("grow for ever"));
  }
}

/// Three callbacks, each of a group of its own, on two threads: at u = 1/2 each, the two others may
/// keep both threads busy for as long as the third one would have to run. Three threads are enough
/// for all.
TEST(Divergence, OfTheMultiThreadedAnalysisIsDecidedByLongRunRates) {
  const auto model = [](std::int64_t threads, std::int64_t wcet) {
    ModelBuilder builder;
    const auto e = builder.executor(model::DedicatedSupply{}, ExecutorKind::multi_threaded);
    builder.model().executors.back().threads = threads;
    for (const char* node : {"n0", "n1", "n2"}) {
      builder.timer(e, Duration{wcet},
                    model::PeriodicActivation{.period = Duration{common_period},
                                              .jitter = Duration{9 * common_period / 10}});
      builder.model().callbacks.back().node = node;
    }
    return builder.model();
  };
  const auto expect_too_much = [](const Bounds& bounds) {
    for (const auto& callback : bounds.callbacks) {
      EXPECT_EQ(callback.bound, std::nullopt);
      EXPECT_THAT(callback.reason, testing::HasSubstr("needs 1.00 of a thread"));
    }
  };
  expect_bounds(analyze(model(2, common_period / 2 - common_period / 100), unlimited),
                common_period);
  expect_bounds(analyze(model(2, common_period / 2 - common_period / 10'000), unlimited),
                common_period);
  expect_too_much(analyze(model(2, common_period / 2), unlimited));
  expect_bounds(analyze(model(3, common_period - common_period / 100), unlimited), common_period);
  expect_bounds(analyze(model(4, common_period - common_period / 100), unlimited), common_period);
  expect_too_much(analyze(model(3, common_period), unlimited));
}

TEST(Divergence, WhatAThreadCannotServeIsToldFromBoundsThatGrow) {
  ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, ExecutorKind::multi_threaded);
  builder.model().executors.back().threads = 2;
  builder.timer(e, Duration{60}, model::every(Duration{100}));
  builder.timer(e, Duration{50}, model::every(Duration{100}));
  for (const auto& callback : analyze(builder.model()).callbacks) {
    EXPECT_EQ(callback.reason,
              "what may run before it on executor \"e0\", all of its group and a thread's part of "
              "all others, needs 1.10 of a thread");
  }
}

/// Two callbacks of an executor that activate each other, each by what the other did not send it.
/// The round-robin bound of either counts five times the load of both timers and callbacks.
TEST(Divergence, OfCallbacksCoupledByTriggerSetsIsDecidedByLongRunRates) {
  const auto model = [](std::int64_t wcet) {
    ModelBuilder builder;
    const auto e = builder.executor();
    const auto t1 = builder.timer(e, Duration{wcet}, model::every(Duration{common_period}));
    const auto t2 = builder.timer(e, Duration{wcet}, model::every(Duration{common_period}));
    const auto a = builder.subscription(e, Duration{wcet});
    const auto b = builder.subscription(e, Duration{wcet});
    builder.edge(t1, a);
    builder.edge(t2, b);
    builder.edge(a, b).triggered_by = {{t1}};
    builder.edge(b, a).triggered_by = {{t2}};
    return builder.model();
  };
  constexpr std::int64_t threshold = common_period / 10;
  expect_bounds(analyze(model(threshold - 100'000), by_round_robin), 30'000'000);
  expect_bounds(analyze(model(threshold - 10), by_round_robin), 300'000'000'000);
  for (const std::int64_t above : {1, 10, 1'000, 100'000}) {
    expect_endless(analyze(model(threshold + above), by_round_robin), {2, 3});
  }
  expect_endless(analyze(model(threshold + 100'000), {.method = Method::round_robin}), {2, 3});
}

/// Two executors with priorities, of which each one's less urgent timer activates the other one's
/// more urgent subscription: the later a timer may run, the more bunched are the messages for which
/// the other one waits. With half of a processor for the subscriptions that feeds itself.
TEST(Divergence, OfExecutorsThatActivateEachOtherIsDecidedByLongRunRates) {
  const auto model = [](std::int64_t wcet) {
    ModelBuilder builder;
    std::vector<CallbackIndex> timers;
    for (int i = 0; i < 2; ++i) {
      const auto e = builder.executor(model::DedicatedSupply{}, ExecutorKind::fixed_priority);
      timers.push_back(
          builder.timer(e, Duration{common_period / 10}, model::every(Duration{common_period})));
      builder.model().callbacks.back().priority = 1;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const auto next = builder.subscription(model::ExecutorIndex{i}, Duration{wcet});
      builder.model().callbacks.back().priority = 2;
      builder.edge(timers[1 - i], next);
    }
    return builder.model();
  };
  constexpr std::int64_t threshold = common_period / 2;
  expect_bounds(analyze(model(threshold - 1'000'000)), 4'000'000);
  expect_bounds(analyze(model(threshold - 1'000)), 2'000'000'000);
  for (const std::int64_t above : {1'000, 10'000, 100'000, 300'000}) {
    expect_endless(analyze(model(threshold + above)), {0, 1});
  }
  // More than a processor has.
  EXPECT_EQ(analyze(model(threshold + 4'500'000)).callbacks[1].reason,
            "executor \"e1\" needs 1.05 of a processor, its supply gives 1.00");
}

/// The same with the round-robin analysis, whose timers count three loads.
TEST(Divergence, OfDefaultExecutorsThatActivateEachOtherIsDecidedByLongRunRates) {
  const auto model = [](std::int64_t wcet) {
    ModelBuilder builder;
    std::vector<CallbackIndex> timers;
    for (int i = 0; i < 2; ++i) {
      timers.push_back(
          builder.timer(builder.executor(), Duration{wcet}, model::every(Duration{common_period})));
    }
    for (std::size_t i = 0; i < 2; ++i) {
      builder.edge(timers[1 - i], builder.subscription(model::ExecutorIndex{i}, Duration{wcet}));
    }
    return builder.model();
  };
  constexpr std::int64_t threshold = common_period / 3;
  expect_bounds(analyze(model(threshold - 100), by_round_robin), 100'000'000'000);
  for (const std::int64_t above : {1'000, 100'000, 1'000'000}) {
    const auto bounds = analyze(model(threshold + above), by_round_robin);
    EXPECT_THAT(bounds.callbacks[0].reason, testing::HasSubstr("by the round-robin analysis"));
  }
}

/// Slow systems: nothing is taken for endless because it takes long.
TEST(Divergence, SlowIsNotEndless) {
  constexpr std::int64_t minute = 60'000'000'000;
  ModelBuilder builder;
  const auto a = builder.executor(model::DedicatedSupply{}, ExecutorKind::events);
  const auto b = builder.executor(model::DedicatedSupply{}, ExecutorKind::events);
  const auto a1 = builder.timer(a, Duration{20 * minute}, model::every(Duration{60 * minute}));
  const auto b1 = builder.timer(b, Duration{20 * minute}, model::every(Duration{60 * minute}));
  builder.edge(a1, builder.subscription(b, Duration{20 * minute}));
  builder.edge(b1, builder.subscription(a, Duration{20 * minute}));
  const auto bounds = analyze(builder.model(), unlimited);
  EXPECT_TRUE(bounds.converged);
  EXPECT_EQ(bounds.callbacks[0].bound, Duration{40 * minute});
  EXPECT_EQ(bounds.callbacks[2].bound, Duration{40 * minute});
}

/// Whatever several executors do to each other, no search is just given up: bounds of minutes are
/// found, and only those are left that are beyond what times can be.
TEST(Divergence, OfSeveralExecutorsIsAlwaysProved) {
  const generation::Shape shape{.fewest_executors = 2,
                                .most_executors = 4,
                                .fewest_callbacks = 4,
                                .most_callbacks = 14,
                                .shortest_period = Duration{1'000'000},
                                .longest_period = Duration{100'000'000},
                                .least_utilisation = 51,
                                .most_utilisation = 98,
                                .message_driven = 60};
  int endless = 0;
  int slow = 0;
  int undecided = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto bounds = analyze(generation::random_model(shape, seed), by_round_robin);
    for (const auto& callback : bounds.callbacks) {
      slow += callback.bound > std::chrono::seconds{100};
      endless += callback.reason.find("grow for ever") != std::string::npos ||
                 callback.reason.find("processing windows admit") != std::string::npos;
      undecided += callback.reason.find("not decided") != std::string::npos;
    }
  }
  EXPECT_GT(endless, 5);
  EXPECT_GT(slow, 5);
  // Its load is 6e-8 below the threshold.
  EXPECT_LE(undecided, 1);
}

/// Hostile but valid numbers: the largest times everywhere.
TEST(Divergence, LargestTimesDoNotOverflow) {
  ModelBuilder builder;
  const Duration most{1'000'000'000'000'000};
  const auto e = builder.executor(model::ReservationSupply{Duration{1}, most, most});
  const auto timer =
      builder.timer(e, most, model::PeriodicActivation{.period = Duration{1}, .jitter = most});
  const auto next = builder.subscription(e, most);
  builder.edge(timer, next, most);
  builder.chain({timer, next});
  const auto bounds = analyze(builder.model(), {.method = Method::combined, .horizon = most});
  EXPECT_FALSE(bounds.converged);
  EXPECT_THAT(bounds.callbacks[0].reason, testing::StartsWith("executor \"e0\" needs "));
}

}  // namespace
}  // namespace takt::analysis
