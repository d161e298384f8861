#include <gmock/gmock.h>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/testbed/random_model.hpp"

/// Callbacks without bound are told apart by the reason.
namespace takt::analysis {
namespace {

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
constexpr Options round_robin{.method = Method::round_robin, .horizon = curves::longest_time};

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
        analyze(alone(Duration{wcet}, Duration{period}, Duration{jitter}), round_robin);
    EXPECT_EQ(bounds.callbacks[0].bound, Duration{wcet * instances_in_bound(wcet, period, jitter)})
        << below << " ns below the threshold";
  }
  for (const std::int64_t above : {0, 1, 10, 1'000, 100'000, 1'000'000, 2'000'000}) {
    const auto bounds = analyze(
        alone(Duration{period / 2 + above}, Duration{period}, Duration{jitter}), round_robin);
    EXPECT_EQ(bounds.callbacks[0].bound, std::nullopt) << above << " ns above the threshold";
    EXPECT_THAT(bounds.callbacks[0].reason, testing::HasSubstr("by the round-robin analysis"));
  }
}

TEST(Divergence, AtTheThresholdABoundIsFoundIfThereIsOne) {
  const auto bounds = analyze(alone(Duration{5}, Duration{10}, Duration{0}), round_robin);
  EXPECT_EQ(bounds.callbacks[0].bound, Duration{5});
}

TEST(Divergence, RoundRobinSaysWhatTheProcessingWindowsOfACallbackNeed) {
  ModelBuilder builder;
  const auto e = builder.executor();
  builder.timer(e, Duration{17}, model::every(Duration{20}));
  builder.timer(e, Duration{10}, model::every(Duration{100}));
  const auto bounds = analyze(builder.model(), round_robin);
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
  testbed::Shape shape{.most_callbacks = 12,
                       .shortest_period = Duration{100'000},
                       .longest_period = Duration{10'000'000},
                       .least_utilisation = 30,
                       .most_utilisation = 105,
                       .shortest_reservation_period = Duration{100'000},
                       .longest_reservation_period = Duration{1'000'000},
                       .overhead = 20};
  int without_bound = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto bounds = analyze(testbed::random_model(shape, seed), round_robin);
    for (const auto& callback : bounds.callbacks) {
      if (callback.bound) continue;
      ++without_bound;
      EXPECT_THAT(callback.reason, testing::Not(testing::HasSubstr("horizon"))) << seed;
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
            "executor \"e0\" yields no bound below the analysis horizon of 4 ms");
}

TEST(Divergence, ExecutorsWithoutAnalysisAreNotBoundedAsIfSingleThreaded) {
  ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, ExecutorKind::table_driven);
  builder.timer(e, Duration{1}, model::every(Duration{100}));
  const auto bounds = analyze(builder.model());
  EXPECT_EQ(bounds.callbacks[0].bound, std::nullopt);
  EXPECT_EQ(bounds.callbacks[0].reason,
            "executor \"e0\" goes by a table, and the model has none for it");
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
