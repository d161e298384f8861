#pragma once

#include "takt/estimation/belief.hpp"
#include "takt/estimation/covariance.hpp"
#include "takt/estimation/measurement.hpp"

namespace takt::estimation {

/// The measurement update that Kalman and extended Kalman filters share, in the Joseph form, which
/// keeps the covariance symmetric and positive semi-definite for any gain:
///
///   K = P Hᵀ (H P Hᵀ + R)⁻¹,  x = x + K r,  P = (I - K H) P (I - K H)ᵀ + K R Kᵀ
///
/// with the innovation r = y - h(x). A missing component (NaN) gets the innovation 0, a row of
/// zeros in H and a noise of its own (leave_out).
template <int N, int P>
class Correction {
 public:
  Correction(Eigen::Index states, Eigen::Index measurements)
      : missing_(measurements),
        noise_(measurements, measurements),
        innovation_covariance_(measurements, measurements),
        factor_(measurements, measurements),
        solved_(measurements, 1),
        cross_(measurements, states),
        gain_(measurements, states),
        left_(states, states),
        product_(states, states),
        gain_noise_(states, measurements) {}

  /// `innovation` and `jacobian` are changed where components are missing. `fixed_gain`: K, N by P,
  /// instead of the optimal gain; null: the optimal gain.
  Outcome apply(Belief<N>& belief, Vector<P>& innovation, Matrix<P, N>& jacobian,
                const Matrix<P, P>& noise, const Matrix<N, P>* fixed_gain = nullptr) {
    Outcome outcome;
    noise_ = noise;
    missing_.setConstant(false);
    for (Eigen::Index i = 0; i < innovation.size(); ++i) {
      if (std::isnan(innovation(i))) {
        innovation(i) = 0;
        jacobian.row(i).setZero();
        leave_out(i, noise_);
        missing_(i) = true;
      } else if (!std::isfinite(innovation(i))) {
        outcome.refusal = Refusal::not_finite;
        return outcome;
      } else {
        ++outcome.used;
      }
    }
    if (outcome.used == 0) return outcome;
    cross_.noalias() = jacobian * belief.covariance;
    innovation_covariance_ = noise_;
    innovation_covariance_.noalias() += cross_ * jacobian.transpose();
    if (!cholesky(innovation_covariance_, factor_) ||
        is_singular(innovation_covariance_, factor_)) {
      outcome.refusal =
          is_finite(innovation_covariance_) ? Refusal::singular_innovation : Refusal::not_finite;
      return outcome;
    }
    solved_ = innovation;
    solve_in_place(factor_, solved_);
    outcome.innovation = innovation.dot(solved_);
    if (fixed_gain != nullptr) {
      gain_ = fixed_gain->transpose();
      for (Eigen::Index i = 0; i < missing_.size(); ++i) {
        if (missing_(i)) gain_.row(i).setZero();
      }
    } else {
      gain_ = cross_;
      solve_in_place(factor_, gain_);
    }
    belief.state.noalias() += gain_.transpose() * innovation;
    left_.setIdentity();
    left_.noalias() -= gain_.transpose() * jacobian;
    product_.noalias() = left_ * belief.covariance;
    belief.covariance.noalias() = product_ * left_.transpose();
    gain_noise_.noalias() = gain_.transpose() * noise_;
    belief.covariance.noalias() += gain_noise_ * gain_;
    symmetrise(belief.covariance);
    return outcome;
  }

 private:
  Eigen::Matrix<bool, P, 1> missing_;
  Matrix<P, P> noise_;
  Matrix<P, P> innovation_covariance_;
  Matrix<P, P> factor_;
  Vector<P> solved_;
  Matrix<P, N> cross_;  // H P
  Matrix<P, N> gain_;   // transposed
  Matrix<N, N> left_;
  Matrix<N, N> product_;
  Matrix<N, P> gain_noise_;
};

}  // namespace takt::estimation
