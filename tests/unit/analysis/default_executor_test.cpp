#include <gmock/gmock.h>

#include <random>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/curves/supply_bound.hpp"

namespace takt::analysis {
namespace {

using model::CallbackKind;
using model::ModelBuilder;
using std::chrono::milliseconds;

model::ReservationSupply reservation(std::int64_t budget, std::int64_t period) {
  return {Duration{budget}, Duration{period}, Duration{period}};
}

TEST(RosLlamaFact, F40_EventSourceAloneRespondsWhenItsCostIsSupplied) {
  for (const std::int64_t cost : {1, 30, 31, 60, 90, 200}) {
    ModelBuilder builder;
    const auto e = builder.executor(reservation(30, 100), model::ExecutorKind::event_source);
    builder.callback(e, CallbackKind::event_source, {Duration{cost}}, model::every(Duration{1000}));
    const auto supply =
        curves::SupplyBound::reservation(Duration{30}, Duration{100}, Duration{100});
    const auto bounds = analyze(builder.model());
    EXPECT_EQ(bounds.callbacks[0].bound, supply.time_for(Duration{cost}));
    EXPECT_EQ(bounds.callbacks[0].by, "event_source");
  }
}

TEST(RosLlamaFact, F23_NotMonotoneInTheReservationPeriod) {
  const auto bound = [](std::int64_t budget, std::int64_t period) {
    ModelBuilder builder;
    const auto e = builder.executor(reservation(budget, period));
    builder.timer(e, Duration{750'000}, model::every(Duration{100'000'000}));
    return *analyze(builder.model()).callbacks[0].bound;
  };
  EXPECT_EQ(bound(700'000, 7'000'000), Duration{19'650'000});
  EXPECT_EQ(bound(800'000, 8'000'000), Duration{15'150'000});
}

TEST(RosLlamaFact, F24_ScalarModelDivergesWhereTheCurveConverges) {
  // Every tenth instance costs 560, the others 17: 40 of them 4 · 560 + 36 · 17 = 2852.
  std::vector<Duration> curve;
  for (std::int64_t n = 1; n <= 40; ++n) {
    curve.emplace_back((n + 9) / 10 * 560 + (n - (n + 9) / 10) * 17);
  }
  const auto bounds_with = [](std::vector<Duration> execution_time) {
    ModelBuilder builder;
    const auto e = builder.executor();
    builder.callback(e, CallbackKind::subscription, std::move(execution_time),
                     model::every(Duration{250}));
    builder.subscription(e, Duration{100}, model::every(Duration{2000}));
    return analyze(builder.model(), {.method = Method::busy_window});
  };
  EXPECT_TRUE(bounds_with(curve).converged);
  EXPECT_FALSE(bounds_with({Duration{560}}).converged);
}

TEST(DefaultExecutor, PrivilegedTimerWaitsForOneCallbackAndItsBetters) {
  ModelBuilder builder;
  const auto e = builder.executor();
  builder.model().executors[0].timers = TimerHandling::privileged;
  builder.timer(e, Duration{3}, model::every(Duration{1000}));
  builder.timer(e, Duration{5}, model::every(Duration{1000}));
  builder.subscription(e, Duration{70}, model::every(Duration{1000}));
  const auto bounds = analyze(builder.model());
  // 70 - ε of the subscription that just began, then the timers in order.
  EXPECT_EQ(bounds.callbacks[0].bound, Duration{69 + 3});
  EXPECT_EQ(bounds.callbacks[1].bound, Duration{69 + 3 + 5});
  EXPECT_EQ(bounds.callbacks[0].by, "privileged");
}

TEST(DefaultExecutor, OverheadIsPartOfEveryInstance) {
  ModelBuilder builder;
  const auto e = builder.executor();
  builder.model().executors[0].overhead = {Duration{10}, Duration{15}};
  builder.timer(e, Duration{100}, model::every(Duration{1000}));
  builder.timer(e, Duration{100}, model::every(Duration{1000}));
  const auto bounds = analyze(builder.model());
  EXPECT_EQ(bounds.callbacks[0].bound, Duration{220});
}

/// Random systems for comparisons.
model::Model random_system(std::mt19937& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  ModelBuilder builder;
  const auto e = builder.executor(reservation(pick(5, 10), 10));
  builder.model().executors[0].timers =
      random() % 2 == 0 ? TimerHandling::polled : TimerHandling::privileged;
  std::vector<model::CallbackIndex> callbacks;
  const auto size = pick(2, 6);
  for (int i = 0; i < size; ++i) {
    const auto period = pick(50, 400);
    const Duration wcet{pick(1, std::max<std::int64_t>(1, period / (2 * size)))};
    if (i == 0 || random() % 3 == 0) {
      callbacks.push_back(builder.timer(e, wcet, model::every(Duration{period})));
    } else {
      callbacks.push_back(builder.subscription(e, wcet));
      builder.edge(callbacks[random() % static_cast<std::size_t>(i)], callbacks.back());
    }
  }
  return builder.model();
}

std::int64_t value(const CallbackBound& bound) {
  return bound.bound ? bound.bound->count() : INT64_MAX;
}

TEST(RosLlamaFact, F20_CombinedIsNeverAboveEither) {
  std::mt19937 random(20);
  for (int round = 0; round < 200; ++round) {
    const auto model = random_system(random);
    const auto round_robin = analyze(model, {.method = Method::round_robin});
    const auto busy_window = analyze(model, {.method = Method::busy_window});
    const auto combined = analyze(model, {.method = Method::combined});
    for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
      EXPECT_LE(value(combined.callbacks[c]),
                std::min(value(round_robin.callbacks[c]), value(busy_window.callbacks[c])));
    }
  }
}

TEST(RosLlamaFact, F23_MonotoneInCostAndActivationAndAntitoneInSupply) {
  std::mt19937 random(23);
  for (int round = 0; round < 200; ++round) {
    const auto model = random_system(random);
    auto harder = model;
    const auto victim = random() % model.callbacks.size();
    switch (random() % 3) {
      case 0:
        harder.callbacks[victim].execution_time[0] += Duration{3};
        break;
      case 1: {
        auto& activation = harder.callbacks[0].activation;
        std::get<model::PeriodicActivation>(*activation).jitter = Duration{40};
        break;
      }
      default: {
        auto& supply = std::get<model::ReservationSupply>(harder.executors[0].supply);
        supply.budget -= epsilon;
      }
    }
    for (const Method method : {Method::round_robin, Method::busy_window, Method::combined}) {
      const Options options{.method = method, .horizon = Duration{100'000}};
      const auto before = analyze(model, options);
      const auto after = analyze(harder, options);
      for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
        EXPECT_LE(value(before.callbacks[c]), value(after.callbacks[c]));
      }
    }
  }
}

/// The tracker of ros-llama: 120 ms for an image every 100 ms, of which the newest waits. When an
/// image comes, one may be under way, and one of each other callback goes before in both windows.
TEST(DefaultExecutor, AQueueThatDisplacesBoundsWhatIsNotLost) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto odometry = builder.subscription(e, milliseconds{2}, model::every(milliseconds{20}));
  const auto tracker = builder.subscription(e, milliseconds{120}, model::every(milliseconds{100}));
  EXPECT_FALSE(analyze(builder.model()).callbacks[tracker.value()].bound);
  for (const auto& [depth, bound] : {std::pair{1, 244}, std::pair{2, 366}}) {
    builder.model().callbacks[tracker.value()].queue_depth = depth;
    const Bounds bounds = analyze(builder.model());
    EXPECT_EQ(bounds.callbacks[tracker.value()].bound, milliseconds{bound});
    EXPECT_THAT(bounds.full_queues, testing::ElementsAre(builder.model()[tracker].id));
    EXPECT_FALSE(bounds.callbacks[odometry.value()].bound);
  }
  // At most ten wait, each for one of the tracker's instances, and one runs.
  builder.model().callbacks[odometry.value()].queue_depth = 10;
  EXPECT_EQ(analyze(builder.model()).callbacks[odometry.value()].bound,
            10 * milliseconds{120} + 11 * milliseconds{2});
}

}  // namespace
}  // namespace takt::analysis
