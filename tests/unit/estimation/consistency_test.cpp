#include <gtest/gtest.h>

#include <Eigen/LU>
#include <array>
#include <cmath>
#include <utility>

#include "systems.hpp"
#include "takt/estimation/extended_kalman.hpp"
#include "takt/estimation/kalman.hpp"
#include "takt/estimation/particle.hpp"
#include "takt/estimation/unscented_kalman.hpp"

namespace takt::estimation {
namespace {

constexpr int runs = 10'000;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int particle_runs = 1'000;  // a minute with a sanitizer otherwise
#else
constexpr int particle_runs = runs;
#endif
/// Standard deviations of a normal distribution: one run of the test in a million would be outside,
/// and seeds are fixed.
constexpr double deviations = 4.9;

/// The mean of `count` chi-square numbers of `degrees` each lies about `degrees`, with a standard
/// deviation of sqrt(2 degrees / count).
void expect_chi_square(double sum, double count, double degrees) {
  EXPECT_NEAR(sum / count, degrees, deviations * std::sqrt(2 * degrees / count));
}

/// Consistency by the normalised error squared of the estimate (NEES) at the end of each run, and
/// of the innovations (NIS), which are independent of each other if the filter is right. `make`
/// gets the prior and the number of the run; `step` returns the NIS.
template <typename MakeFilter, typename Step>
void expect_consistent(const LinearModel<2, 1, 2>& truth, int steps, MakeFilter make, Step step,
                       int count = runs) {
  Draw draw(19);
  const Belief<2> prior{Vector<2>(1, -1), (Matrix<2, 2>() << 2, 0.5, 0.5, 1).finished()};
  Matrix<2, 2> prior_root;
  Matrix<2, 2> process_root;
  Matrix<2, 2> measurement_root;
  ASSERT_TRUE(cholesky(prior.covariance, prior_root));
  ASSERT_TRUE(cholesky(truth.process_noise, process_root));
  ASSERT_TRUE(cholesky(truth.measurement_noise, measurement_root));
  const auto noise = [&] { return Vector<2>(draw.normal(), draw.normal()); };
  double errors = 0;
  double innovations = 0;
  for (int run = 0; run < count; ++run) {
    auto filter = make(prior, run);
    Vector<2> state = prior.state + prior_root * noise();
    for (int number = 0; number < steps; ++number) {
      const Vector<1> input = scalar(std::sin(number));
      state =
          (truth.state_matrix * state + truth.input_matrix * input + process_root * noise()).eval();
      const Vector<2> measurement = truth.output_matrix * state + measurement_root * noise();
      innovations += step(filter, input, measurement);
    }
    const Vector<2> error = filter.belief().state - state;
    errors += error.dot(filter.belief().covariance.inverse() * error);
  }
  expect_chi_square(errors, count, 2);
  expect_chi_square(innovations, count * steps, 2);
}

LinearModel<2, 1, 2> system() {
  LinearModel<2, 1, 2> model;
  model.state_matrix << 0.95, 0.1, -0.1, 0.9;
  model.input_matrix << 0.5, 1;
  model.output_matrix << 1, 0, 0.3, 1;
  model.feedthrough_matrix.setZero();
  model.process_noise << 0.2, 0.05, 0.05, 0.1;
  model.measurement_noise << 0.5, 0.1, 0.1, 0.3;
  return model;
}

/// Makes a step and returns the NIS that the filter itself tells.
constexpr auto told = [](auto& filter, const Vector<1>& input, const Vector<2>& measurement) {
  const Outcome outcome = filter.step(input, measurement);
  EXPECT_TRUE(outcome.ok());
  return outcome.innovation;
};

TEST(Consistency, TheKalmanFilterKnowsItsErrors) {
  const auto model = system();
  const auto make = [&](const Belief<2>& prior, int /*run*/) {
    return KalmanFilter<2, 1, 2>(model, prior);
  };
  expect_consistent(model, 20, make, told);
}

TEST(Consistency, TheExtendedKalmanFilterKnowsItsErrors) {
  const auto model = system();
  const LinearAsNonlinear<2, 1, 2> nonlinear{model};
  const auto make = [&](const Belief<2>& prior, int /*run*/) {
    return ExtendedKalmanFilter(nonlinear, {model.process_noise, model.measurement_noise}, prior);
  };
  expect_consistent(model, 20, make, told);
}

/// Without process noise: the propagated points, which the update uses, do not have it.
TEST(Consistency, TheUnscentedFilterKnowsItsErrors) {
  auto model = system();
  model.process_noise.setZero();
  const LinearAsNonlinear<2, 1, 2> nonlinear{model};
  const auto make = [&](const Belief<2>& prior, int /*run*/) {
    return UnscentedKalmanFilter(nonlinear, {.alpha = 1, .beta = 2, .kappa = 1},
                                 {model.process_noise, model.measurement_noise}, prior);
  };
  expect_consistent(model, 20, make, told);
}

/// Its particles are few enough to be quick, and so many that the error which their number makes,
/// some hundredths of a standard deviation, is a small part of the interval.
TEST(Consistency, TheParticleFilterKnowsItsErrors) {
  const auto model = system();
  const LinearAsNonlinear<2, 1, 2> nonlinear{model};
  const auto make = [&](const Belief<2>& prior, int run) {
    return ParticleFilter(nonlinear, {.count = 500, .seed = static_cast<std::uint64_t>(run)},
                          {model.process_noise, model.measurement_noise}, prior);
  };
  // The filter tells no NIS, so it is computed from the cloud after the prediction.
  const auto step = [&](auto& filter, const Vector<1>& input, const Vector<2>& measurement) {
    EXPECT_EQ(filter.predict(input), Refusal::none);
    const Vector<2> innovation = measurement - model.output_matrix * filter.belief().state;
    const Matrix<2, 2> covariance =
        model.output_matrix * filter.belief().covariance * model.output_matrix.transpose() +
        model.measurement_noise;
    EXPECT_TRUE(filter.update(input, measurement).ok());
    return innovation.dot(covariance.inverse() * innovation);
  };
  expect_consistent(model, 8, make, step, particle_runs);
}

/// NEES and NIS of one update with y = x² + noise, x having mean 1 and variance 1: their means over
/// the runs, in standard deviations of these from 1.
template <typename MakeFilter>
std::pair<double, double> deviations_of_square(MakeFilter make) {
  constexpr double noise = 0.1;
  Draw draw(21);
  std::array<double, 2> sums{};
  std::array<double, 2> squares{};
  for (int run = 0; run < runs; ++run) {
    auto filter = make(noise);
    const double state = 1 + draw.normal();
    const double measurement = state * state + std::sqrt(noise) * draw.normal();
    const Outcome outcome = filter.update(scalar(0), scalar(measurement));
    EXPECT_TRUE(outcome.ok());
    const double error = filter.belief().state(0) - state;
    const std::array<double, 2> found{error * error / filter.belief().covariance(0, 0),
                                      outcome.innovation};
    for (std::size_t i = 0; i < 2; ++i) {
      sums[i] += found[i];
      squares[i] += found[i] * found[i];
    }
  }
  const auto from_one = [&](std::size_t i) {
    const double mean = sums[i] / runs;
    return (mean - 1) / std::sqrt((squares[i] / runs - mean * mean) / runs);
  };
  return {from_one(0), from_one(1)};
}

/// Mean and variance of a square are exactly those of the sigma points with n + κ = 3 and β = 0, so
/// the unscented filter is consistent there; the linearised one is not.
TEST(Consistency, TheUnscentedFilterIsRightWhereTheExtendedOneIsNot) {
  const ScalarModel square{[](double x, double) { return x; }, [](double) { return 1.0; },
                           [](double x) { return x * x; }, [](double x) { return 2 * x; }};
  const Belief<1> prior{scalar(1), Matrix<1, 1>::Identity()};
  const auto noise = [](double measurement) {
    return Noise<1, 1>{Matrix<1, 1>::Zero(), Matrix<1, 1>::Constant(measurement)};
  };
  const auto unscented = deviations_of_square([&](double measurement) {
    return UnscentedKalmanFilter(square, {.alpha = 1, .beta = 0, .kappa = 2}, noise(measurement),
                                 prior);
  });
  EXPECT_LT(std::abs(unscented.first), deviations);
  EXPECT_LT(std::abs(unscented.second), deviations);
  const auto extended = deviations_of_square(
      [&](double measurement) { return ExtendedKalmanFilter(square, noise(measurement), prior); });
  EXPECT_GT(extended.first, 2 * deviations);
  EXPECT_GT(extended.second, 2 * deviations);
}

TEST(Consistency, AFilterThatUnderestimatesItsNoiseIsFoundOut) {
  const auto model = system();
  auto proud = model;
  proud.measurement_noise *= 0.9;
  Draw draw(1);
  Matrix<2, 2> root;
  ASSERT_TRUE(cholesky(model.measurement_noise, root));
  double innovations = 0;
  for (int run = 0; run < runs; ++run) {
    KalmanFilter<2, 1, 2> filter(proud, {Vector<2>::Zero(), Matrix<2, 2>::Zero()});
    const Vector<2> noise(draw.normal(), draw.normal());
    const Outcome outcome = filter.update(scalar(0), root * noise);
    ASSERT_TRUE(outcome.ok());
    innovations += outcome.innovation;
  }
  EXPECT_GT(innovations / runs, 2 + deviations * std::sqrt(4.0 / runs));
}

}  // namespace
}  // namespace takt::estimation
