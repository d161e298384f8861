// Steps of the filters and the test of membership in a region. filterpy_ratios.py runs it beside
// filterpy; the program alone compares the Kalman filter with the same written by hand in Eigen.

#include <benchmark/benchmark.h>

#include <Eigen/LU>
#include <array>
#include <cmath>

#include "takt/estimation/kalman.hpp"
#include "takt/estimation/particle.hpp"
#include "takt/estimation/region.hpp"
#include "takt/estimation/unscented_kalman.hpp"

namespace takt::estimation {
namespace {

constexpr int dimension = 6;
constexpr int measured = 3;

/// Positions and velocities of a body in space, positions measured, accelerations given.
LinearModel<dimension, 3, measured> tracking() {
  constexpr double period = 0.01;
  LinearModel<dimension, 3, measured> model;
  model.state_matrix.setIdentity();
  model.state_matrix.topRightCorner<3, 3>() = period * Matrix<3, 3>::Identity();
  model.input_matrix.setZero();
  model.input_matrix.bottomRows<3>() = period * Matrix<3, 3>::Identity();
  model.output_matrix.setZero();
  model.output_matrix.leftCols<3>().setIdentity();
  model.feedthrough_matrix.setZero();
  model.process_noise = 1e-4 * Matrix<dimension, dimension>::Identity();
  model.measurement_noise = 1e-2 * Matrix<measured, measured>::Identity();
  return model;
}

Belief<dimension> start() {
  return {Vector<dimension>::Zero(), Matrix<dimension, dimension>::Identity()};
}

/// The same body with drag, measured as distance, azimuth and height.
struct Tracking {
  static constexpr int N = dimension;
  static constexpr int M = 3;
  static constexpr int P = measured;
  [[nodiscard]] static Eigen::Index states() { return N; }
  [[nodiscard]] static Eigen::Index inputs() { return M; }
  [[nodiscard]] static Eigen::Index measurements() { return P; }
  void step(const Vector<N>& x, const Vector<M>& u, Vector<N>& next) {
    constexpr double period = 0.01;
    const Vector<3> velocity = x.tail<3>();
    next.head<3>() = x.head<3>() + period * velocity;
    next.tail<3>() = velocity + period * (u - 0.1 * velocity.norm() * velocity);
  }
  void output(const Vector<N>& x, const Vector<M>& /*u*/, Vector<P>& y) {
    y << x.head<3>().norm(), std::atan2(x(1), x(0)), x(2);
  }
};

void kalman_step(benchmark::State& state) {
  KalmanFilter<dimension, 3, measured> filter(tracking(), start());
  const Vector<3> input(0.1, 0.2, 0.3);
  const Vector<measured> measurement(1, 2, 3);
  for (auto _ : state) benchmark::DoNotOptimize(filter.step(input, measurement).innovation);
}
BENCHMARK(kalman_step);

/// The Kalman filter as one writes it without a library and without checks. `left` is I - K C.
template <typename Covariance>
void kalman_step_by_hand(benchmark::State& state, Covariance corrected) {
  const auto model = tracking();
  Belief<dimension> belief = start();
  const Vector<3> input(0.1, 0.2, 0.3);
  const Vector<measured> measurement(1, 2, 3);
  for (auto _ : state) {
    belief.state = model.state_matrix * belief.state + model.input_matrix * input;
    belief.covariance = model.state_matrix * belief.covariance * model.state_matrix.transpose() +
                        model.process_noise;
    const Matrix<measured, measured> innovation =
        model.output_matrix * belief.covariance * model.output_matrix.transpose() +
        model.measurement_noise;
    const Matrix<dimension, measured> gain =
        belief.covariance * model.output_matrix.transpose() * innovation.inverse();
    belief.state += gain * (measurement - model.output_matrix * belief.state);
    const Matrix<dimension, dimension> left =
        Matrix<dimension, dimension>::Identity() - gain * model.output_matrix;
    belief.covariance = corrected(left, belief.covariance, gain, model.measurement_noise);
    benchmark::DoNotOptimize(belief.state.data());
  }
}

using Square = Matrix<dimension, dimension>;
using Gain = Matrix<dimension, measured>;
using MeasurementNoise = Matrix<measured, measured>;

Square short_form(const Square& left, const Square& covariance, const Gain& /*gain*/,
                  const MeasurementNoise& /*noise*/) {
  return left * covariance;
}

/// The form that our filter has.
Square josephs_form(const Square& left, const Square& covariance, const Gain& gain,
                    const MeasurementNoise& noise) {
  return left * covariance * left.transpose() + gain * noise * gain.transpose();
}

void kalman_step_by_hand(benchmark::State& state) { kalman_step_by_hand(state, short_form); }
BENCHMARK(kalman_step_by_hand);
void kalman_step_by_hand_joseph(benchmark::State& state) {
  kalman_step_by_hand(state, josephs_form);
}
BENCHMARK(kalman_step_by_hand_joseph);

void kalman_step_dynamic(benchmark::State& state) {
  constexpr int any = Eigen::Dynamic;
  const auto fixed = tracking();
  KalmanFilter<any, any, any> filter(
      {fixed.state_matrix, fixed.input_matrix, fixed.output_matrix, fixed.feedthrough_matrix,
       fixed.process_noise, fixed.measurement_noise},
      {start().state, start().covariance});
  const AnyVector input = Vector<3>(0.1, 0.2, 0.3);
  const AnyVector measurement = Vector<3>(1, 2, 3);
  for (auto _ : state) benchmark::DoNotOptimize(filter.step(input, measurement).innovation);
}
BENCHMARK(kalman_step_dynamic);

void unscented_step(benchmark::State& state) {
  const auto model = tracking();
  Belief<dimension> belief = start();
  belief.state << 10, 5, 2, 1, 0, 0;
  UnscentedKalmanFilter filter(Tracking{}, {.alpha = 0.5, .beta = 2, .kappa = 0},
                               {model.process_noise, model.measurement_noise}, belief);
  const Vector<3> input(0, 0, 0);
  for (auto _ : state) {
    const Vector<measured> measurement(11.4, 0.46, 2);
    benchmark::DoNotOptimize(filter.step(input, measurement).innovation);
  }
}
BENCHMARK(unscented_step);

/// A pendulum whose angle is measured.
struct Pendulum {
  static constexpr int N = 2;
  static constexpr int M = 1;
  static constexpr int P = 1;
  [[nodiscard]] static Eigen::Index states() { return N; }
  [[nodiscard]] static Eigen::Index inputs() { return M; }
  [[nodiscard]] static Eigen::Index measurements() { return P; }
  void step(const Vector<2>& x, const Vector<1>& u, Vector<2>& next) {
    constexpr double period = 0.01;
    next << x(0) + period * x(1), x(1) + period * (u(0) - 9.81 * std::sin(x(0)) - 0.1 * x(1));
  }
  void output(const Vector<2>& x, const Vector<1>& /*u*/, Vector<1>& y) { y(0) = x(0); }
};

void particle_step(benchmark::State& state) {
  ParticleFilter filter(Pendulum{}, {.count = 10'000, .seed = 1},
                        {1e-4 * Matrix<2, 2>::Identity(), 1e-2 * Matrix<1, 1>::Identity()},
                        {Vector<2>(0.1, 0), 0.01 * Matrix<2, 2>::Identity()});
  const Vector<1> nothing = Vector<1>::Zero();
  for (auto _ : state) benchmark::DoNotOptimize(filter.step(nothing, nothing).innovation);
}
BENCHMARK(particle_step)->Unit(benchmark::kMicrosecond);

template <std::size_t Axes>
void membership(benchmark::State& state) {
  std::vector<Axis> axes(Axes, Axis{.first = -1, .last = 1, .count = Axes <= 2 ? 201 : 41});
  std::size_t nodes = 1;
  for (const Axis& axis : axes) nodes *= static_cast<std::size_t>(axis.count);
  std::vector<double> values(nodes);
  for (std::size_t i = 0; i < nodes; ++i) values[i] = std::sin(static_cast<double>(i));
  const Region region = Region::make(axes, values, 0, "region").value();
  std::array<double, Axes> point{};
  double at = -0.9;
  for (auto _ : state) {
    at = at > 0.9 ? -0.9 : at + 0.0137;
    point.fill(at);
    benchmark::DoNotOptimize(region.contains(point.data()));
  }
}
BENCHMARK(membership<1>);
BENCHMARK(membership<2>);
BENCHMARK(membership<4>);

}  // namespace
}  // namespace takt::estimation
