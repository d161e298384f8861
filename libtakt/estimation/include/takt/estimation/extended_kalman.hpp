#pragma once

#include "takt/estimation/correction.hpp"
#include "takt/estimation/nonlinear_model.hpp"

namespace takt::estimation {

/// The extended Kalman filter (equations 4.3 and 4.4 of the theory): F at the estimate before the
/// prediction, H at the predicted one; Joseph's form of the update. No allocation after
/// construction.
template <DifferentiableModel Model>
class ExtendedKalmanFilter {
 public:
  static constexpr int N = Model::N;
  static constexpr int M = Model::M;
  static constexpr int P = Model::P;
  using Snapshot = Belief<N>;

  /// `noise` and `belief` must have been checked: check_covariance, check_start.
  ExtendedKalmanFilter(Model model, Noise<N, P> noise, Belief<N> belief)
      : model_(std::move(model)),
        noise_(std::move(noise)),
        belief_(std::move(belief)),
        correction_(model_.states(), model_.measurements()),
        state_(model_.states()),
        transition_(model_.states(), model_.states()),
        product_(model_.states(), model_.states()),
        covariance_(model_.states(), model_.states()),
        output_(model_.measurements()),
        jacobian_(model_.measurements(), model_.states()) {}

  [[nodiscard]] const Belief<N>& belief() const { return belief_; }

  [[nodiscard]] Refusal restart(const Belief<N>& belief) {
    if (const Refusal refusal = check_start(belief, model_.states()); refusal != Refusal::none) {
      return refusal;
    }
    belief_ = belief;
    return Refusal::none;
  }

  [[nodiscard]] Refusal predict(const Vector<M>& input) {
    if (input.size() != model_.inputs()) return Refusal::wrong_size;
    model_.step(belief_.state, input, state_, transition_);
    product_.noalias() = transition_ * belief_.covariance;
    covariance_ = noise_.process;
    covariance_.noalias() += product_ * transition_.transpose();
    if (!is_finite(state_) || !is_finite(transition_) || !is_finite(covariance_)) {
      return Refusal::not_finite;
    }
    belief_.state.swap(state_);
    belief_.covariance.swap(covariance_);
    return Refusal::none;
  }

  /// The update with a measurement; components that are NaN are missing.
  [[nodiscard]] Outcome update(const Vector<M>& input, const Vector<P>& measurement) {
    if (input.size() != model_.inputs() || measurement.size() != output_.size()) {
      return {.refusal = Refusal::wrong_size};
    }
    model_.output(belief_.state, input, output_);
    model_.output_jacobian(belief_.state, input, jacobian_);
    if (!output_.allFinite() || !jacobian_.allFinite()) return {.refusal = Refusal::not_finite};
    output_ = measurement - output_;
    return correction_.apply(belief_, output_, jacobian_, noise_.measurement);
  }

  [[nodiscard]] Outcome step(const Vector<M>& input, const Vector<P>& measurement) {
    return predict_and_update(*this, input, measurement);
  }

  void save(Snapshot& snapshot) const { snapshot = belief_; }
  void restore(const Snapshot& snapshot) { belief_ = snapshot; }

 private:
  Model model_;
  Noise<N, P> noise_;
  Belief<N> belief_;
  Correction<N, P> correction_;
  Vector<N> state_;
  Matrix<N, N> transition_;
  Matrix<N, N> product_;
  Matrix<N, N> covariance_;
  Vector<P> output_;
  Matrix<P, N> jacobian_;
};

}  // namespace takt::estimation
