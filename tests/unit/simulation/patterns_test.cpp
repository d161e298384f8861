#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "models.hpp"
#include "takt/curves/activation_curve.hpp"
#include "takt/curves/execution_time_curve.hpp"

/// What a simulation chooses within the model: activations, execution times; and its statistics.
namespace takt::simulation {
namespace {

using curves::ActivationCurve;

/// Activations and execution times of one event source, which nothing delays.
struct Instances {
  std::vector<Instant> activations;
  std::vector<Duration> times;
};

Instances instances(const model::Activation& activation, std::vector<Duration> curve,
                    const Options& options) {
  Models models;
  models.executor("e", model::ExecutorKind::event_source);
  models.timer("source", milliseconds(1), milliseconds(1));
  models["source"].kind = model::CallbackKind::event_source;
  models["source"].activation = activation;
  models["source"].execution_time = std::move(curve);
  Instances result;
  for (const TimelineEntry& entry : models.run(milliseconds(1), options).timeline) {
    result.activations.push_back(entry.activation);
    result.times.push_back(entry.end - entry.start);
  }
  return result;
}

ActivationCurve curve_of(const model::Activation& activation) {
  if (const auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
    return ActivationCurve::periodic(periodic->period, periodic->jitter);
  }
  if (const auto* sporadic = std::get_if<model::SporadicActivation>(&activation)) {
    return ActivationCurve::periodic(sporadic->min_separation, sporadic->jitter);
  }
  return ActivationCurve::min_distance(std::get<model::MinDistanceActivation>(activation).values);
}

std::vector<model::Activation> activations() {
  return {
      model::PeriodicActivation{Duration(1000), Duration(0)},
      model::PeriodicActivation{Duration(1000), Duration(300)},
      model::PeriodicActivation{Duration(1000), Duration(3500)},
      model::SporadicActivation{Duration(800), Duration(0)},
      model::SporadicActivation{Duration(800), Duration(2000)},
      model::MinDistanceActivation{{Duration(0), Duration(10), Duration(900), Duration(2500)}},
  };
}

TEST(Activations, KeepWithinTheirCurve) {
  for (const model::Activation& activation : activations()) {
    const ActivationCurve curve = curve_of(activation);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Options options;
      options.seed = seed;
      options.releases = seed == 0 ? ReleaseModel::synchronous : ReleaseModel::random;
      const auto found = instances(activation, {Duration(1)}, options).activations;
      ASSERT_GT(found.size(), 300U);
      for (std::size_t n = 2; n < 10; ++n) {
        for (std::size_t i = 0; i + n <= found.size(); ++i) {
          ASSERT_GE(found[i + n - 1] - found[i], curve.distance(static_cast<std::int64_t>(n)));
        }
      }
    }
  }
}

TEST(Activations, AreAsDenseAsTheirCurveAllowsAtTheBeginning) {
  for (const model::Activation& activation : activations()) {
    const ActivationCurve curve = curve_of(activation);
    const auto found = instances(activation, {Duration(0)}, {}).activations;
    for (std::size_t n = 1; n < 20; ++n) {
      ASSERT_EQ(found[n - 1] - found[0], curve.distance(static_cast<std::int64_t>(n)));
    }
  }
}

/// A deadline-based executor keeps only a timer's newest expiry; what is listed all happens.
TEST(Activations, ThatAreListedAreKeptByDeadlineBasedExecutorsToo) {
  Models models;
  models.executor("e", model::ExecutorKind::edf);
  models.timer("a", milliseconds(10), milliseconds(4))
      .timer("b", milliseconds(100), milliseconds(1));
  Options options;
  options.release_times = {{"a", {milliseconds(20), milliseconds(20), milliseconds(21)}}};
  const Simulation simulation = models.run(milliseconds(100), options);
  EXPECT_EQ(simulation.callbacks[0].activations, 3);
  EXPECT_EQ(simulation.callbacks[0].skipped, 0);
  EXPECT_EQ(simulation.callbacks[0].response_time.count(), 3);
  EXPECT_EQ(simulation.callbacks[0].response_time.max(), milliseconds(11));
}

TEST(ExecutionTimes, KeepWithinTheirCurveAndReachIt) {
  const std::vector<Duration> curve = {Duration(50), Duration(60), Duration(69), Duration(110)};
  const curves::ExecutionTimeCurve bound(curve);
  for (const ExecutionModel execution : {ExecutionModel::worst_case, ExecutionModel::random}) {
    Options options;
    options.execution = execution;
    const auto found =
        instances(model::PeriodicActivation{Duration(1000), Duration(0)}, curve, options).times;
    for (std::size_t n = 1; n < 12; ++n) {
      Duration greatest{};
      for (std::size_t i = 0; i + n <= found.size(); ++i) {
        Duration total{};
        for (std::size_t k = i; k < i + n; ++k) total += found[k];
        greatest = std::max(greatest, total);
      }
      EXPECT_LE(greatest, bound(static_cast<std::int64_t>(n)));
      const bool exact = execution == ExecutionModel::worst_case && n <= 2;
      if (exact) {
        EXPECT_EQ(greatest, bound(static_cast<std::int64_t>(n)));
      }
    }
  }
}

TEST(ExecutionTimes, ComeFromAListAgainAndAgain) {
  Options options;
  options.execution_times["source"] = {Duration(7), Duration(5)};
  const auto found =
      instances(model::PeriodicActivation{Duration(1000), Duration(0)}, {Duration(9)}, options)
          .times;
  EXPECT_EQ(std::vector(found.begin(), found.begin() + 3),
            (std::vector{Duration(7), Duration(5), Duration(7)}));
}

}  // namespace
}  // namespace takt::simulation
