#pragma once

#include <cmath>

#include "takt/estimation/covariance.hpp"
#include "takt/estimation/measurement.hpp"
#include "takt/estimation/nonlinear_model.hpp"
#include "takt/estimation/unscented.hpp"

namespace takt::estimation {

/// The unscented Kalman filter. The propagated points are used for the update as well. No
/// allocation after construction.
template <NonlinearModel Model>
class UnscentedKalmanFilter {
 public:
  static constexpr int N = Model::N;
  static constexpr int M = Model::M;
  static constexpr int P = Model::P;
  static constexpr int Points = N == Eigen::Dynamic ? Eigen::Dynamic : 2 * N + 1;

  struct Snapshot {
    Belief<N> belief;
    bool propagated = false;
    Matrix<N, Points> points;
  };

  /// All must have been checked: Unscented::check, check_covariance, check_start.
  UnscentedKalmanFilter(Model model, Unscented parameters, Noise<N, P> noise, Belief<N> belief)
      : model_(std::move(model)),
        parameters_(parameters),
        noise_(std::move(noise)),
        belief_(std::move(belief)),
        n_(static_cast<double>(model_.states())),
        points_(model_.states(), 2 * model_.states() + 1),
        scaled_(model_.states(), model_.states()),
        factor_(model_.states(), model_.states()),
        from_(model_.states()),
        to_(model_.states()),
        mean_(model_.states()),
        weighted_(model_.states(), 2 * model_.states() + 1),
        outputs_(model_.measurements(), 2 * model_.states() + 1),
        output_(model_.measurements()),
        innovation_(model_.measurements()),
        solved_(model_.measurements()),
        innovation_covariance_(model_.measurements(), model_.measurements()),
        innovation_factor_(model_.measurements(), model_.measurements()),
        cross_(model_.measurements(), model_.states()),
        gain_(model_.measurements(), model_.states()) {}

  [[nodiscard]] const Belief<N>& belief() const { return belief_; }
  [[nodiscard]] const Unscented& parameters() const { return parameters_; }

  [[nodiscard]] Refusal restart(const Belief<N>& belief) {
    if (const Refusal refusal = check_start(belief, model_.states()); refusal != Refusal::none) {
      return refusal;
    }
    belief_ = belief;
    propagated_ = false;
    return Refusal::none;
  }

  /// `mended`: see Outcome.
  [[nodiscard]] Refusal predict(const Vector<M>& input, bool& mended) {
    if (input.size() != model_.inputs()) return Refusal::wrong_size;
    if (!spread_points(mended)) return Refusal::not_positive_semidefinite;
    for (Eigen::Index i = 0; i < points_.cols(); ++i) {
      from_ = points_.col(i);
      model_.step(from_, input, to_);
      if (!to_.allFinite()) {
        propagated_ = false;
        return Refusal::not_finite;
      }
      points_.col(i) = to_;
    }
    mean_of(points_, mean_);
    belief_.state = mean_;
    belief_.covariance = noise_.process;
    points_.colwise() -= mean_;
    weigh(points_, weighted_);
    belief_.covariance.noalias() += weighted_ * points_.transpose();
    points_.colwise() += mean_;
    symmetrise(belief_.covariance);
    propagated_ = true;
    return Refusal::none;
  }

  /// The update with a measurement; components that are NaN are missing.
  [[nodiscard]] Outcome update(const Vector<M>& input, const Vector<P>& measurement) {
    if (input.size() != model_.inputs() || measurement.size() != output_.size()) {
      return {.refusal = Refusal::wrong_size};
    }
    Outcome outcome = usable(measurement);
    if (outcome.used == 0) return outcome;
    if (!propagated_ && !spread_points(outcome.mended)) {
      outcome.refusal = Refusal::not_positive_semidefinite;
      return outcome;
    }
    if (!observe(input)) {
      outcome.refusal = Refusal::not_finite;
      return outcome;
    }
    leave_out_missing(measurement);
    if (!cholesky(innovation_covariance_, innovation_factor_) ||
        is_singular(innovation_covariance_, innovation_factor_)) {
      outcome.refusal = Refusal::singular_innovation;
      return outcome;
    }
    solved_ = innovation_;
    solve_in_place(innovation_factor_, solved_);
    outcome.innovation = innovation_.dot(solved_);
    gain_ = cross_;
    solve_in_place(innovation_factor_, gain_);
    belief_.state.noalias() += gain_.transpose() * innovation_;
    // K Pyy Kᵀ = Pxy Kᵀ
    belief_.covariance.noalias() -= cross_.transpose() * gain_;
    symmetrise(belief_.covariance);
    propagated_ = false;
    return outcome;
  }

  [[nodiscard]] Outcome step(const Vector<M>& input, const Vector<P>& measurement) {
    bool mended = false;
    if (const Refusal refusal = predict(input, mended); refusal != Refusal::none) {
      return {.refusal = refusal, .mended = mended};
    }
    Outcome outcome = update(input, measurement);
    outcome.mended = outcome.mended || mended;
    return outcome;
  }

  void save(Snapshot& snapshot) const {
    snapshot.belief = belief_;
    snapshot.propagated = propagated_;
    snapshot.points = points_;
  }
  void restore(const Snapshot& snapshot) {
    belief_ = snapshot.belief;
    propagated_ = snapshot.propagated;
    points_ = snapshot.points;
  }

 private:
  /// The sigma points of the belief. A covariance that rounding has spoilt is mended by a diagonal
  /// that is small beside it; false if that does not help.
  bool spread_points(bool& mended) {
    double mend = 1e-12;
    while (true) {
      scaled_ = parameters_.spread(n_) * belief_.covariance;
      if (cholesky(scaled_, factor_)) break;
      if (mend > 1e-6) return false;
      mended = true;
      const double most = belief_.covariance.diagonal().cwiseAbs().maxCoeff();
      belief_.covariance.diagonal().array() += mend * most;
      mend *= 100;
    }
    const Eigen::Index size = belief_.state.size();
    points_.col(0) = belief_.state;
    for (Eigen::Index i = 0; i < size; ++i) {
      points_.col(1 + i) = belief_.state + factor_.col(i);
      points_.col(1 + size + i) = belief_.state - factor_.col(i);
    }
    return true;
  }

  template <typename Points_, typename Mean>
  void mean_of(const Points_& points, Mean& mean) {
    mean = points.rightCols(points.cols() - 1).rowwise().sum() * parameters_.other(n_);
    mean += parameters_.first_mean(n_) * points.col(0);
  }

  template <typename Points_, typename Weighted>
  void weigh(const Points_& points, Weighted& weighted) {
    weighted = points * parameters_.other(n_);
    weighted.col(0) = points.col(0) * parameters_.first_covariance(n_);
  }

  /// Computes the points' outputs, the covariance of these, and that with the points. False: an
  /// output is not finite.
  bool observe(const Vector<M>& input) {
    for (Eigen::Index i = 0; i < points_.cols(); ++i) {
      from_ = points_.col(i);
      model_.output(from_, input, output_);
      if (!output_.allFinite()) return false;
      outputs_.col(i) = output_;
    }
    mean_of(outputs_, output_);
    outputs_.colwise() -= output_;
    points_.colwise() -= belief_.state;
    weigh(points_, weighted_);
    points_.colwise() += belief_.state;
    cross_.noalias() = outputs_ * weighted_.transpose();
    innovation_covariance_ = noise_.measurement;
    const double other = parameters_.other(n_);
    for (Eigen::Index i = 0; i < outputs_.cols(); ++i) {
      const double weight = i == 0 ? parameters_.first_covariance(n_) : other;
      innovation_covariance_.noalias() += weight * outputs_.col(i) * outputs_.col(i).transpose();
    }
    return true;
  }

  void leave_out_missing(const Vector<P>& measurement) {
    innovation_ = measurement - output_;
    for (Eigen::Index i = 0; i < measurement.size(); ++i) {
      if (!std::isnan(measurement(i))) continue;
      innovation_(i) = 0;
      cross_.row(i).setZero();
      leave_out(i, innovation_covariance_);
    }
  }

  Model model_;
  Unscented parameters_;
  Noise<N, P> noise_;
  Belief<N> belief_;
  double n_;
  /// Whether points_ are those of the belief, as nothing has happened since a prediction.
  bool propagated_ = false;
  Matrix<N, Points> points_;
  Matrix<N, N> scaled_;
  Matrix<N, N> factor_;
  Vector<N> from_;
  Vector<N> to_;
  Vector<N> mean_;
  Matrix<N, Points> weighted_;
  Matrix<P, Points> outputs_;
  Vector<P> output_;
  Vector<P> innovation_;
  Vector<P> solved_;
  Matrix<P, P> innovation_covariance_;
  Matrix<P, P> innovation_factor_;
  Matrix<P, N> cross_;  // Pxyᵀ
  Matrix<P, N> gain_;   // Kᵀ
};

}  // namespace takt::estimation
