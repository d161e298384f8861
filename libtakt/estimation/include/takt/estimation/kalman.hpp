#pragma once

#include <optional>

#include "takt/estimation/correction.hpp"

namespace takt::estimation {

/// A linear system in discrete time: x⁺ = A x + B u + noise(Q), y = C x + D u + noise(R).
template <int N, int M, int P>
struct LinearModel {
  Matrix<N, N> state_matrix;
  Matrix<N, M> input_matrix;
  Matrix<P, N> output_matrix;
  Matrix<P, M> feedthrough_matrix;
  Matrix<N, N> process_noise;
  Matrix<P, P> measurement_noise;

  /// Whether sizes fit, numbers are finite and noises are covariances.
  [[nodiscard]] Refusal check() const {
    const Eigen::Index n = state_matrix.rows();
    const Eigen::Index m = input_matrix.cols();
    const Eigen::Index p = output_matrix.rows();
    if (n == 0 || p == 0 || state_matrix.cols() != n || input_matrix.rows() != n ||
        output_matrix.cols() != n || feedthrough_matrix.rows() != p ||
        feedthrough_matrix.cols() != m || process_noise.rows() != n || process_noise.cols() != n ||
        measurement_noise.rows() != p || measurement_noise.cols() != p) {
      return Refusal::wrong_size;
    }
    if (!state_matrix.allFinite() || !input_matrix.allFinite() || !output_matrix.allFinite() ||
        !feedthrough_matrix.allFinite()) {
      return Refusal::not_finite;
    }
    const Refusal refusal = check_covariance(process_noise);
    return refusal == Refusal::none ? check_covariance(measurement_noise) : refusal;
  }
};

/// The Kalman filter (equations 4.1 and 4.2 of the theory), with Joseph's form of the update. No
/// allocation after construction.
template <int N, int M, int P>
class KalmanFilter {
 public:
  using Model = LinearModel<N, M, P>;
  using Snapshot = Belief<N>;

  /// `model` and `belief` must have been checked: Model::check, check_start.
  KalmanFilter(Model model, Belief<N> belief)
      : model_(std::move(model)),
        belief_(std::move(belief)),
        correction_(model_.state_matrix.rows(), model_.output_matrix.rows()),
        state_(model_.state_matrix.rows()),
        product_(model_.state_matrix.rows(), model_.state_matrix.rows()),
        covariance_(model_.state_matrix.rows(), model_.state_matrix.rows()),
        innovation_(model_.output_matrix.rows()),
        jacobian_(model_.output_matrix) {}

  /// A constant gain, N by P, instead of the one that the covariances give.
  void fix_gain(const Matrix<N, P>& gain) { gain_ = gain; }

  [[nodiscard]] const Belief<N>& belief() const { return belief_; }

  [[nodiscard]] Refusal restart(const Belief<N>& belief) {
    if (const Refusal refusal = check_start(belief, model_.state_matrix.rows());
        refusal != Refusal::none) {
      return refusal;
    }
    belief_ = belief;
    return Refusal::none;
  }

  [[nodiscard]] Refusal predict(const Vector<M>& input) {
    if (input.size() != model_.input_matrix.cols()) return Refusal::wrong_size;
    if (!input.allFinite()) return Refusal::not_finite;
    state_.noalias() = model_.state_matrix * belief_.state;
    state_.noalias() += model_.input_matrix * input;
    product_.noalias() = model_.state_matrix * belief_.covariance;
    covariance_ = model_.process_noise;
    covariance_.noalias() += product_ * model_.state_matrix.transpose();
    if (!is_finite(state_) || !is_finite(covariance_)) return Refusal::not_finite;
    belief_.state.swap(state_);
    belief_.covariance.swap(covariance_);
    return Refusal::none;
  }

  /// The update with a measurement; components that are NaN are missing.
  [[nodiscard]] Outcome update(const Vector<M>& input, const Vector<P>& measurement) {
    if (input.size() != model_.input_matrix.cols() || measurement.size() != innovation_.size()) {
      return {.refusal = Refusal::wrong_size};
    }
    if (!input.allFinite()) return {.refusal = Refusal::not_finite};
    innovation_.noalias() = model_.output_matrix * belief_.state;
    innovation_.noalias() += model_.feedthrough_matrix * input;
    // A NaN in the innovation stands for a missing measurement, so it must not come from elsewhere.
    if (!is_finite(innovation_)) return {.refusal = Refusal::not_finite};
    innovation_ = measurement - innovation_;
    jacobian_ = model_.output_matrix;
    return correction_.apply(belief_, innovation_, jacobian_, model_.measurement_noise,
                             gain_ ? &*gain_ : nullptr);
  }

  [[nodiscard]] Outcome step(const Vector<M>& input, const Vector<P>& measurement) {
    return predict_and_update(*this, input, measurement);
  }

  void save(Snapshot& snapshot) const { snapshot = belief_; }
  void restore(const Snapshot& snapshot) { belief_ = snapshot; }

 private:
  Model model_;
  Belief<N> belief_;
  std::optional<Matrix<N, P>> gain_;
  Correction<N, P> correction_;
  Vector<N> state_;
  Matrix<N, N> product_;
  Matrix<N, N> covariance_;
  Vector<P> innovation_;
  Matrix<P, N> jacobian_;
};

}  // namespace takt::estimation
