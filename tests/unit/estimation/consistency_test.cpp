#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "systems.hpp"
#include "takt/estimation/extended_kalman.hpp"
#include "takt/estimation/kalman.hpp"

namespace takt::estimation {
namespace {

constexpr int runs = 10'000;
constexpr int steps = 20;
/// Of a normal distribution: one run of the test in a million would be outside, and seeds are
/// fixed.
constexpr double deviations = 4.9;

/// The mean of `count` chi-square numbers of `degrees` each lies about `degrees`, with a standard
/// deviation of sqrt(2 degrees / count).
void expect_chi_square(double sum, double count, double degrees) {
  EXPECT_NEAR(sum / count, degrees, deviations * std::sqrt(2 * degrees / count));
}

/// Consistency by the normalised error squared of the estimate (NEES) at the end of each run, and
/// of the innovations (NIS), which are independent of each other if the filter is right.
template <typename MakeFilter>
void expect_consistent(const LinearModel<2, 1, 2>& truth, MakeFilter make) {
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
  for (int run = 0; run < runs; ++run) {
    auto filter = make(prior);
    Vector<2> state = prior.state + prior_root * noise();
    for (int step = 0; step < steps; ++step) {
      const Vector<1> input = scalar(std::sin(step));
      state =
          (truth.state_matrix * state + truth.input_matrix * input + process_root * noise()).eval();
      const Vector<2> measurement = truth.output_matrix * state + measurement_root * noise();
      const Outcome outcome = filter.step(input, measurement);
      ASSERT_TRUE(outcome.ok());
      innovations += outcome.innovation;
    }
    const Vector<2> error = filter.belief().state - state;
    errors += error.dot(filter.belief().covariance.inverse() * error);
  }
  expect_chi_square(errors, runs, 2);
  expect_chi_square(innovations, runs * steps, 2);
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

TEST(Consistency, TheKalmanFilterKnowsItsErrors) {
  const auto model = system();
  expect_consistent(model,
                    [&](const Belief<2>& prior) { return KalmanFilter<2, 1, 2>(model, prior); });
}

TEST(Consistency, TheExtendedKalmanFilterKnowsItsErrors) {
  const auto model = system();
  const LinearAsNonlinear<2, 1, 2> nonlinear{model};
  expect_consistent(model, [&](const Belief<2>& prior) {
    return ExtendedKalmanFilter(nonlinear, {model.process_noise, model.measurement_noise}, prior);
  });
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
