#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "takt/estimation/kalman.hpp"
#include "takt/estimation/nonlinear_model.hpp"

namespace takt::estimation {

/// In place of a number that was not measured.
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

inline Vector<1> scalar(double value) { return Vector<1>::Constant(value); }

/// A model of one state, input and measurement from functions of numbers and their derivatives.
template <typename F, typename DF, typename H, typename DH>
struct ScalarModel {
  static constexpr int N = 1;
  static constexpr int M = 1;
  static constexpr int P = 1;
  F f;
  DF df;
  H h;
  DH dh;

  [[nodiscard]] static Eigen::Index states() { return 1; }
  [[nodiscard]] static Eigen::Index inputs() { return 1; }
  [[nodiscard]] static Eigen::Index measurements() { return 1; }
  void step(const Vector<1>& x, const Vector<1>& u, Vector<1>& next) { next(0) = f(x(0), u(0)); }
  void step(const Vector<1>& x, const Vector<1>& u, Vector<1>& next, Matrix<1, 1>& jacobian) {
    step(x, u, next);
    jacobian(0, 0) = df(x(0));
  }
  void output(const Vector<1>& x, const Vector<1>& /*u*/, Vector<1>& y) { y(0) = h(x(0)); }
  void output_jacobian(const Vector<1>& x, const Vector<1>& /*u*/, Matrix<1, 1>& jacobian) {
    jacobian(0, 0) = dh(x(0));
  }
};
template <typename F, typename DF, typename H, typename DH>
ScalarModel(F, DF, H, DH) -> ScalarModel<F, DF, H, DH>;

/// A linear system as a nonlinear model.
template <int N_, int M_, int P_>
struct LinearAsNonlinear {
  static constexpr int N = N_;
  static constexpr int M = M_;
  static constexpr int P = P_;
  LinearModel<N_, M_, P_> model;

  [[nodiscard]] Eigen::Index states() const { return model.state_matrix.rows(); }
  [[nodiscard]] Eigen::Index inputs() const { return model.input_matrix.cols(); }
  [[nodiscard]] Eigen::Index measurements() const { return model.output_matrix.rows(); }
  void step(const Vector<N>& x, const Vector<M>& u, Vector<N>& next) {
    next.noalias() = model.state_matrix * x;
    next.noalias() += model.input_matrix * u;
  }
  void step(const Vector<N>& x, const Vector<M>& u, Vector<N>& next, Matrix<N, N>& jacobian) {
    step(x, u, next);
    jacobian = model.state_matrix;
  }
  void output(const Vector<N>& x, const Vector<M>& u, Vector<P>& y) {
    y.noalias() = model.output_matrix * x;
    y.noalias() += model.feedthrough_matrix * u;
  }
  void output_jacobian(const Vector<N>& /*x*/, const Vector<M>& /*u*/, Matrix<P, N>& jacobian) {
    jacobian = model.output_matrix;
  }
};

/// Random numbers for tests: the same in every run.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  double normal() { return normal_(random_); }
  double uniform(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }

  template <typename Result>
  void fill(Result& matrix) {
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      for (Eigen::Index j = 0; j < matrix.cols(); ++j) matrix(i, j) = normal();
    }
  }

  /// A covariance of full rank.
  template <typename Result>
  void fill_covariance(Result& matrix, double scale) {
    Result root = matrix;
    fill(root);
    matrix = scale * (root * root.transpose() / static_cast<double>(matrix.rows()));
    matrix.diagonal().array() += 0.1 * scale;
  }

  /// A stable system of these sizes.
  template <int N, int M, int P>
  LinearModel<N, M, P> linear_model(Eigen::Index n, Eigen::Index m, Eigen::Index p) {
    LinearModel<N, M, P> model{
        Matrix<N, N>(n, n), Matrix<N, M>(n, m), Matrix<P, N>(p, n),
        Matrix<P, M>(p, m), Matrix<N, N>(n, n), Matrix<P, P>(p, p),
    };
    fill(model.state_matrix);
    model.state_matrix *= 0.9 / model.state_matrix.norm();
    model.state_matrix.diagonal().array() += 0.05;
    fill(model.input_matrix);
    fill(model.output_matrix);
    fill(model.feedthrough_matrix);
    fill_covariance(model.process_noise, 0.1);
    fill_covariance(model.measurement_noise, 0.5);
    return model;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace takt::estimation
