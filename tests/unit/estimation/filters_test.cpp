#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "systems.hpp"
#include "takt/estimation/extended_kalman.hpp"
#include "takt/estimation/handoff.hpp"
#include "takt/estimation/kalman.hpp"
#include "takt/estimation/particle.hpp"
#include "takt/estimation/unscented_kalman.hpp"

namespace takt::estimation {
namespace {

/// The facts print five digits.
constexpr double printed = 5e-6;

LinearModel<1, 1, 1> scalar_model() {
  return {scalar(1), scalar(0), scalar(1), scalar(0), scalar(0.1), scalar(1)};
}

TEST(EstimationFact, A47_TheScalarKalmanFilter) {
  KalmanFilter<1, 1, 1> filter(scalar_model(), {scalar(0), scalar(1)});
  ASSERT_EQ(filter.predict(scalar(0)), Refusal::none);
  EXPECT_NEAR(filter.belief().covariance(0), 1.1, 1e-15);
  const Outcome outcome = filter.update(scalar(0), scalar(2));
  ASSERT_TRUE(outcome.ok());
  EXPECT_NEAR(filter.belief().state(0), 1.04762, printed);
  EXPECT_NEAR(filter.belief().state(0) / 2, 0.52381, printed);  // K, as x was 0
  EXPECT_NEAR(filter.belief().covariance(0), 0.52381, printed);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(filter.step(scalar(0), scalar(0)).ok());
  EXPECT_NEAR(filter.belief().covariance(0), 0.27016, printed);
  ASSERT_EQ(filter.predict(scalar(0)), Refusal::none);
  EXPECT_NEAR(filter.belief().covariance(0), 0.37016, printed);
}

TEST(EstimationFact, A48_TheScalarExtendedKalmanFilter) {
  ScalarModel model{[](double x, double) { return x - 0.1 * x * x * x; },
                    [](double x) { return 1 - 0.3 * x * x; }, [](double x) { return x * x; },
                    [](double x) { return 2 * x; }};
  ExtendedKalmanFilter filter(model, {scalar(0.01), scalar(0.1)}, {scalar(1), scalar(0.5)});
  ASSERT_EQ(filter.predict(scalar(0)), Refusal::none);
  EXPECT_NEAR(filter.belief().state(0), 0.9, 1e-15);
  EXPECT_NEAR(filter.belief().covariance(0), 0.255, 1e-15);
  ASSERT_TRUE(filter.update(scalar(0), scalar(1)).ok());
  EXPECT_NEAR(filter.belief().state(0), 0.99416, printed);
  EXPECT_NEAR((filter.belief().state(0) - 0.9) / 0.19, 0.49557, 5e-5);  // K, by the innovation
  EXPECT_NEAR(filter.belief().covariance(0), 0.02753, printed);
}

TEST(EstimationFact, A49_WeightsOfTheSigmaPoints) {
  const Unscented unscented{.alpha = 1, .beta = 2, .kappa = 1};
  EXPECT_NEAR(unscented.lambda(2), 1, 1e-15);
  EXPECT_NEAR(unscented.first_mean(2), 1.0 / 3, 1e-15);
  EXPECT_NEAR(unscented.first_covariance(2), 7.0 / 3, 1e-15);
  EXPECT_NEAR(unscented.other(2), 1.0 / 6, 1e-15);
  EXPECT_NEAR(unscented.first_mean(2) + 4 * unscented.other(2), 1, 1e-15);
}

/// Mean and variance of g(x), x ~ N(0, 1), by one prediction without noise.
template <typename G>
Belief<1> transformed(G g, double beta) {
  const ScalarModel model{[g](double x, double) { return g(x); }, [](double) { return 0.0; },
                          [](double x) { return x; }, [](double) { return 1.0; }};
  UnscentedKalmanFilter filter(model, {.alpha = 1, .beta = beta, .kappa = 2},
                               {scalar(0), scalar(1)}, {scalar(0), scalar(1)});
  bool mended = false;
  EXPECT_EQ(filter.predict(scalar(0), mended), Refusal::none);
  EXPECT_FALSE(mended);
  return filter.belief();
}

TEST(EstimationFact, A50_TheUnscentedTransformOfASquare) {
  const auto square = [](double x) { return x * x; };
  EXPECT_NEAR(transformed(square, 2).state(0), 1, 1e-12);
  EXPECT_NEAR(transformed(square, 2).covariance(0), 4, 1e-12);
  EXPECT_NEAR(transformed(square, 0).covariance(0), 2, 1e-12);
  EXPECT_NEAR(transformed([](double x) { return x + 5; }, 2).state(0), 5, 1e-12);
  // With the weights as printed, swapped, the mean of x + 5 would be 15.
  const Unscented unscented{.alpha = 1, .beta = 2, .kappa = 2};
  EXPECT_NEAR(5 * (unscented.first_covariance(1) + 2 * unscented.other(1)), 15, 1e-12);
}

TEST(EstimationFact, A51_WeightedPercentiles) {
  const std::vector<double> values{3, 1, 4, 2};
  const std::vector<double> weights{0.3, 0.1, 0.4, 0.2};
  std::vector<std::uint32_t> order(4);
  const auto at = [&](double share) {
    return weighted_percentile(values.data(), 1, weights.data(), order, share);
  };
  EXPECT_EQ(at(0.1), 1);
  EXPECT_EQ(at(0.5), 3);
  EXPECT_EQ(at(0.9), 4);
}

TEST(EstimationFact, A51_PercentilesAreThoseOfASort) {
  Draw draw(51);
  for (int round = 0; round < 200; ++round) {
    const auto count = static_cast<std::size_t>(draw.uniform(1, 60));
    std::vector<double> values(count);
    std::vector<double> weights(count);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = std::floor(draw.uniform(0, 20));  // with ties
      weights[i] = draw.uniform(0, 1);
      sum += weights[i];
    }
    for (double& weight : weights) weight /= sum;
    const double share = draw.uniform(0.001, 0.999);
    double expected = std::numeric_limits<double>::infinity();
    for (const double candidate : values) {
      double cumulative = 0;
      for (std::size_t i = 0; i < count; ++i) cumulative += values[i] <= candidate ? weights[i] : 0;
      if (cumulative >= share) expected = std::min(expected, candidate);
    }
    std::vector<std::uint32_t> order(count);
    EXPECT_EQ(weighted_percentile(values.data(), 1, weights.data(), order, share), expected);
  }
}

TEST(EstimationFact, A55_TheWindow) {
  using std::chrono::milliseconds;
  EXPECT_EQ(least_window(milliseconds(5), 3, milliseconds(2)), milliseconds(17));
  EXPECT_EQ(least_window(milliseconds(5), 1, milliseconds(0)), milliseconds(5));
}

/// On a linear system every filter is the Kalman filter; fixed and dynamic sizes are the same code
/// with other numbers of operations in other orders, hence not bit for bit.
TEST(Filters, AgreeOnLinearSystems) {
  constexpr int any = Eigen::Dynamic;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Draw draw(seed);
    const auto model = draw.linear_model<4, 2, 3>(4, 2, 3);
    Belief<4> start;
    draw.fill(start.state);
    draw.fill_covariance(start.covariance, 1);
    KalmanFilter<4, 2, 3> kalman(model, start);
    KalmanFilter<any, any, any> dynamic(
        {model.state_matrix, model.input_matrix, model.output_matrix, model.feedthrough_matrix,
         model.process_noise, model.measurement_noise},
        {start.state, start.covariance});
    const LinearAsNonlinear<4, 2, 3> nonlinear{model};
    const Noise<4, 3> noise{model.process_noise, model.measurement_noise};
    ExtendedKalmanFilter extended(nonlinear, noise, start);
    UnscentedKalmanFilter unscented(nonlinear, {.alpha = 0.7, .beta = 2, .kappa = 1}, noise, start);
    for (int step = 0; step < 50; ++step) {
      Vector<2> input;
      Vector<3> measurement;
      draw.fill(input);
      draw.fill(measurement);
      if (step % 3 == 1) measurement(step % 2) = missing;
      if (step % 7 == 0) measurement.setConstant(missing);
      const Outcome outcome = kalman.step(input, measurement);
      ASSERT_TRUE(outcome.ok());
      ASSERT_TRUE(dynamic.step(input, measurement).ok());
      ASSERT_TRUE(extended.step(input, measurement).ok());
      const Outcome sigma = unscented.step(input, measurement);
      ASSERT_TRUE(sigma.ok());
      EXPECT_EQ(sigma.used, outcome.used);
      const auto same = [&](const auto& belief, double tolerance) {
        EXPECT_LT((belief.state - kalman.belief().state).cwiseAbs().maxCoeff(), tolerance);
        EXPECT_LT((belief.covariance - kalman.belief().covariance).cwiseAbs().maxCoeff(),
                  tolerance);
      };
      same(dynamic.belief(), 1e-12);
      same(extended.belief(), 1e-12);
      // The unscented filter reuses its points, which do not have the process noise in them: its
      // innovation covariance is smaller by it. Checked below by a system without process noise.
    }
  }
}

TEST(Filters, TheUnscentedFilterIsExactOnLinearSystemsWithoutProcessNoise) {
  Draw draw(7);
  auto model = draw.linear_model<3, 1, 2>(3, 1, 2);
  model.process_noise.setZero();
  Belief<3> start;
  draw.fill(start.state);
  draw.fill_covariance(start.covariance, 1);
  KalmanFilter<3, 1, 2> kalman(model, start);
  UnscentedKalmanFilter unscented(LinearAsNonlinear<3, 1, 2>{model}, {},
                                  {model.process_noise, model.measurement_noise}, start);
  for (int step = 0; step < 10; ++step) {
    const Vector<1> input = scalar(draw.normal());
    Vector<2> measurement;
    draw.fill(measurement);
    ASSERT_TRUE(kalman.step(input, measurement).ok());
    ASSERT_TRUE(unscented.step(input, measurement).ok());
    EXPECT_LT((unscented.belief().state - kalman.belief().state).norm(), 1e-10);
    EXPECT_LT((unscented.belief().covariance - kalman.belief().covariance).norm(), 1e-10);
  }
}

/// The exact posterior of a constant that is measured n times: its precision is the sum of all.
TEST(Filters, GiveTheExactPosteriorOfAConstant) {
  auto model = scalar_model();
  model.process_noise = scalar(0);
  model.measurement_noise = scalar(2);
  KalmanFilter<1, 1, 1> filter(model, {scalar(1), scalar(4)});
  Draw draw(3);
  double precision = 1.0 / 4;
  double weighted = 1.0 / 4;
  for (int i = 0; i < 100; ++i) {
    const double y = 3 + draw.normal();
    precision += 1.0 / 2;
    weighted += y / 2;
    ASSERT_TRUE(filter.step(scalar(0), scalar(y)).ok());
    EXPECT_NEAR(filter.belief().state(0), weighted / precision, 1e-12);
    EXPECT_NEAR(filter.belief().covariance(0), 1 / precision, 1e-12);
  }
}

TEST(Filters, ParticlesApproachTheExactPosterior) {
  LinearModel<1, 1, 1> model = scalar_model();
  for (const Resampling resampling :
       {Resampling::systematic, Resampling::stratified, Resampling::residual}) {
    ParticleFilter filter(LinearAsNonlinear<1, 1, 1>{model},
                          {.count = 20000, .seed = 9, .resampling = resampling},
                          {model.process_noise, model.measurement_noise}, {scalar(0), scalar(1)});
    KalmanFilter<1, 1, 1> exact(model, {scalar(0), scalar(1)});
    Draw draw(4);
    for (int i = 0; i < 30; ++i) {
      const Vector<1> y = scalar(draw.normal());
      ASSERT_TRUE(exact.step(scalar(0), y).ok());
      ASSERT_TRUE(filter.step(scalar(0), y).ok());
      // 20 000 particles: a standard error of the mean of 0.004; five of them.
      EXPECT_NEAR(filter.belief().state(0), exact.belief().state(0), 0.02);
      EXPECT_NEAR(filter.belief().covariance(0), exact.belief().covariance(0), 0.02);
      // The 16th percentile of a normal distribution is one standard deviation below its mean.
      EXPECT_NEAR(filter.percentile(0, 0.158655),
                  exact.belief().state(0) - std::sqrt(exact.belief().covariance(0)), 0.04);
    }
  }
}

TEST(Filters, ParticlesFarFromTheMeasurementAreFlagged) {
  const LinearModel<1, 1, 1> model = scalar_model();
  ParticleFilter filter(LinearAsNonlinear<1, 1, 1>{model}, {.count = 100},
                        {model.process_noise, model.measurement_noise}, {scalar(0), scalar(1)});
  const Outcome outcome = filter.step(scalar(0), scalar(1e6));
  EXPECT_EQ(outcome.refusal, Refusal::diverged);
  EXPECT_TRUE((filter.weights().array() == 1.0 / 100).all());
  EXPECT_TRUE(filter.step(scalar(0), scalar(0)).ok());
}

TEST(Filters, RefuseWithAReason) {
  Belief<2> belief{Vector<2>::Zero(), Matrix<2, 2>::Identity()};
  EXPECT_EQ(check_start(belief, 2), Refusal::none);
  EXPECT_EQ(check_start(belief, 3), Refusal::wrong_size);
  belief.covariance << 1, 2, 2, 1;
  EXPECT_EQ(check_start(belief, 2), Refusal::not_positive_semidefinite);
  belief.covariance << 1, 0.5, 0, 1;
  EXPECT_EQ(check_start(belief, 2), Refusal::not_positive_semidefinite);
  belief.covariance << -1, 0, 0, 1;
  EXPECT_EQ(check_start(belief, 2), Refusal::not_positive_semidefinite);
  belief.covariance << 0, 1e-3, 1e-3, 1;
  EXPECT_EQ(check_start(belief, 2), Refusal::not_positive_semidefinite);
  belief.covariance << 1e-20, 0, 0, 1e20;  // units do not matter
  EXPECT_EQ(check_start(belief, 2), Refusal::none);
  belief.covariance(0, 0) = missing;
  EXPECT_EQ(check_start(belief, 2), Refusal::not_finite);

  EXPECT_EQ((Unscented{.alpha = 1, .beta = 2, .kappa = -2}.check(2)), Refusal::spread_not_positive);
  EXPECT_EQ((Unscented{.alpha = 1, .beta = 2, .kappa = missing}.check(2)), Refusal::not_finite);
  EXPECT_EQ((Unscented{.alpha = 1, .beta = 2, .kappa = -1}.check(2)), Refusal::none);

  auto model = scalar_model();
  model.process_noise = scalar(-1);
  EXPECT_EQ(model.check(), Refusal::not_positive_semidefinite);
}

/// Two noiseless measurements of the same thing: their innovation covariance is singular.
TEST(Filters, RefuseASingularInnovation) {
  LinearModel<2, 1, 2> model{Matrix<2, 2>::Identity(), Matrix<2, 1>::Zero(), Matrix<2, 2>::Zero(),
                             Matrix<2, 1>::Zero(),     Matrix<2, 2>::Zero(), Matrix<2, 2>::Zero()};
  model.output_matrix << 1, 1, 1, 1;
  const Belief<2> start{Vector<2>::Zero(), Matrix<2, 2>::Identity()};
  const Vector<2> measurement(1, 1);
  KalmanFilter<2, 1, 2> kalman(model, start);
  EXPECT_EQ(kalman.step(scalar(0), measurement).refusal, Refusal::singular_innovation);
  EXPECT_EQ(kalman.belief().covariance, start.covariance);  // as predicted
  UnscentedKalmanFilter unscented(LinearAsNonlinear<2, 1, 2>{model}, {},
                                  {model.process_noise, model.measurement_noise}, start);
  EXPECT_EQ(unscented.step(scalar(0), measurement).refusal, Refusal::singular_innovation);
  // One of the two is missing: then nothing is singular.
  EXPECT_TRUE(kalman.step(scalar(0), Vector<2>(1, missing)).ok());
  EXPECT_NEAR(kalman.belief().state.sum(), 1, 1e-12);
}

TEST(Filters, GoOnWithoutMeasurementsAndRefuseOtherNonsense) {
  KalmanFilter<1, 1, 1> filter(scalar_model(), {scalar(1), scalar(1)});
  const Outcome outcome = filter.step(scalar(0), scalar(missing));
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.used, 0);
  EXPECT_EQ(filter.belief().covariance(0), 1.1);  // predicted only
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(filter.update(scalar(0), scalar(infinity)).refusal, Refusal::not_finite);
  EXPECT_EQ(filter.step(scalar(missing), scalar(0)).refusal, Refusal::not_finite);
  EXPECT_EQ(filter.belief().covariance(0), 1.1);
  KalmanFilter<Eigen::Dynamic, Eigen::Dynamic, Eigen::Dynamic> dynamic(
      {scalar(1), scalar(0), scalar(1), scalar(0), scalar(1), scalar(1)}, {scalar(0), scalar(1)});
  EXPECT_EQ(dynamic.step(AnyVector::Zero(2), AnyVector::Zero(1)).refusal, Refusal::wrong_size);
  EXPECT_EQ(dynamic.step(AnyVector::Zero(1), AnyVector::Zero(2)).refusal, Refusal::wrong_size);
}

/// Numbers that a filter cannot use are no missing measurement.
TEST(Filters, RefuseToGoOnWithoutBounds) {
  constexpr double large = 1e200;
  LinearModel<1, 1, 1> growing = scalar_model();
  growing.state_matrix = scalar(large);
  growing.process_noise = scalar(0);
  LinearModel<1, 1, 1> seen_large = scalar_model();
  seen_large.output_matrix = scalar(large);
  struct Case {
    LinearModel<1, 1, 1> model;
    Belief<1> start;
    const char* grows;
  };
  for (const auto& [model, start, grows] :
       {Case{growing, {scalar(large), scalar(0)}, "the state"},
        Case{growing, {scalar(0), scalar(large)}, "the covariance"},
        Case{seen_large, {scalar(large), scalar(1)}, "the output"},
        Case{seen_large, {scalar(0), scalar(large)}, "the covariance of the output"}}) {
    const Noise<1, 1> noise{model.process_noise, model.measurement_noise};
    KalmanFilter<1, 1, 1> kalman(model, start);
    EXPECT_EQ(kalman.step(scalar(0), scalar(0)).refusal, Refusal::not_finite) << grows;
    ExtendedKalmanFilter extended(LinearAsNonlinear<1, 1, 1>{model}, noise, start);
    EXPECT_EQ(extended.step(scalar(0), scalar(0)).refusal, Refusal::not_finite) << grows;
    EXPECT_TRUE(kalman.belief().state.allFinite()) << grows;
    EXPECT_TRUE(kalman.belief().covariance.allFinite()) << grows;
    EXPECT_TRUE(extended.belief().covariance.allFinite()) << grows;
  }
}

/// Joseph's form keeps the covariance positive semi-definite where the short one does not: many
/// nearly noiseless updates of an uncertain state.
TEST(Filters, KeepTheCovariancePositiveSemidefinite) {
  LinearModel<3, 1, 1> model{Matrix<3, 3>::Identity(),
                             Matrix<3, 1>::Zero(),
                             Matrix<1, 3>::Zero(),
                             Matrix<1, 1>::Zero(),
                             1e-18 * Matrix<3, 3>::Identity(),
                             scalar(1e-12)};
  model.state_matrix(0, 1) = 1e-3;
  model.state_matrix(1, 2) = 1e-3;
  model.output_matrix << 1, 0, 0;
  KalmanFilter<3, 1, 1> filter(model, {Vector<3>::Zero(), 1e6 * Matrix<3, 3>::Identity()});
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(filter.step(scalar(0), scalar(0)).ok());
    ASSERT_EQ(check_covariance(filter.belief().covariance), Refusal::none) << i;
  }
}

}  // namespace
}  // namespace takt::estimation
