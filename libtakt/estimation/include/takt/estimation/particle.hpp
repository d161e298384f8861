#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "takt/estimation/covariance.hpp"
#include "takt/estimation/measurement.hpp"
#include "takt/estimation/nonlinear_model.hpp"
#include "takt/estimation/particle_settings.hpp"

namespace takt::estimation {

/// The smallest of the values with a cumulative weight of at least `share`; `order` is scratch
/// space of as many indices. Linear time in the mean.
[[nodiscard]] double weighted_percentile(const double* values, Eigen::Index stride,
                                         const double* weights, std::vector<std::uint32_t>& order,
                                         double share);

/// Draws the particles anew: writes for each new particle the index of the old one that it repeats.
void resample(Resampling method, const Eigen::VectorXd& weights,
              std::vector<std::uint32_t>& parents, std::mt19937_64& random);

/// A particle filter: sequential importance resampling with Gaussian noises. Resamples when the
/// effective number of particles is below half of them. No allocation after construction.
template <NonlinearModel Model>
class ParticleFilter {
 public:
  static constexpr int N = Model::N;
  static constexpr int M = Model::M;
  static constexpr int P = Model::P;
  using Cloud = Matrix<N, Eigen::Dynamic>;

  struct Snapshot {
    Belief<N> belief;
    Cloud particles;
    Eigen::VectorXd weights;
    std::mt19937_64 random;
  };

  /// All must have been checked: at least one particle, check_covariance, check_start; the
  /// measurement noise must be positive definite.
  ParticleFilter(Model model, Particles settings, Noise<N, P> noise, const Belief<N>& belief)
      : model_(std::move(model)),
        resampling_(settings.resampling),
        noise_(std::move(noise)),
        belief_(belief),
        random_(settings.seed),
        particles_(model_.states(), static_cast<Eigen::Index>(settings.count)),
        drawn_(particles_),
        weights_(particles_.cols()),
        parents_(settings.count),
        factor_(model_.states(), model_.states()),
        noise_factor_(model_.measurements(), model_.measurements()),
        available_(model_.measurements(), model_.measurements()),
        from_(model_.states()),
        to_(model_.states()),
        draw_(model_.states()),
        output_(model_.measurements()) {
    process_is_diagonal_ = noise_.process.isDiagonal(0);
    scatter();
  }

  [[nodiscard]] const Belief<N>& belief() const { return belief_; }
  [[nodiscard]] const Cloud& particles() const { return particles_; }
  [[nodiscard]] const Eigen::VectorXd& weights() const { return weights_; }

  [[nodiscard]] Refusal restart(const Belief<N>& belief) {
    if (const Refusal refusal = check_start(belief, model_.states()); refusal != Refusal::none) {
      return refusal;
    }
    belief_ = belief;
    scatter();
    return Refusal::none;
  }

  [[nodiscard]] Refusal predict(const Vector<M>& input) {
    if (input.size() != model_.inputs()) return Refusal::wrong_size;
    // The old particles stay until all new ones are known to be finite.
    if (!cholesky(noise_.process, factor_)) return Refusal::not_positive_semidefinite;
    for (Eigen::Index i = 0; i < particles_.cols(); ++i) {
      from_ = particles_.col(i);
      model_.step(from_, input, to_);
      add_noise(to_);
      drawn_.col(i) = to_;
    }
    if (!drawn_.allFinite()) return Refusal::not_finite;
    particles_.swap(drawn_);
    summarise();
    return Refusal::none;
  }

  /// The update with a measurement; components that are NaN are missing.
  [[nodiscard]] Outcome update(const Vector<M>& input, const Vector<P>& measurement) {
    if (input.size() != model_.inputs() || measurement.size() != output_.size()) {
      return {.refusal = Refusal::wrong_size};
    }
    Outcome outcome = usable(measurement);
    if (outcome.used == 0) return outcome;
    available_ = noise_.measurement;
    for (Eigen::Index i = 0; i < measurement.size(); ++i) {
      if (std::isnan(measurement(i))) leave_out(i, available_);
    }
    if (!cholesky(available_, noise_factor_) || is_singular(available_, noise_factor_)) {
      outcome.refusal = Refusal::singular_innovation;
      return outcome;
    }
    // Weights as logarithms relative to the largest, so that no rounding to 0 spoils their sum.
    double most = -std::numeric_limits<double>::infinity();
    for (Eigen::Index i = 0; i < particles_.cols(); ++i) {
      from_ = particles_.col(i);
      model_.output(from_, input, output_);
      weights_(i) = std::log(weights_(i)) + log_likelihood(measurement);
      most = std::max(most, weights_(i));
    }
    // The exponential of anything below this is 0, so the sum of the weights would be 0.
    constexpr double least = -745.0;
    if (!(most > least)) {
      weights_.setConstant(1.0 / static_cast<double>(particles_.cols()));
      summarise();
      outcome.refusal = Refusal::diverged;
      return outcome;
    }
    weights_ = (weights_.array() - most).exp();
    weights_ /= weights_.sum();
    summarise();
    if (1 / weights_.squaredNorm() < 0.5 * static_cast<double>(particles_.cols())) draw_anew();
    return outcome;
  }

  [[nodiscard]] Outcome step(const Vector<M>& input, const Vector<P>& measurement) {
    return predict_and_update(*this, input, measurement);
  }

  /// The smallest value of a state's particles with a cumulative weight of at least `share`.
  [[nodiscard]] double percentile(Eigen::Index state, double share) {
    return weighted_percentile(particles_.data() + state, particles_.rows(), weights_.data(),
                               parents_, share);
  }

  void save(Snapshot& snapshot) const {
    snapshot.belief = belief_;
    snapshot.particles = particles_;
    snapshot.weights = weights_;
    snapshot.random = random_;
  }
  void restore(const Snapshot& snapshot) {
    belief_ = snapshot.belief;
    particles_ = snapshot.particles;
    weights_ = snapshot.weights;
    random_ = snapshot.random;
    normal_.reset();
  }

 private:
  void scatter() {
    if (!cholesky(belief_.covariance, factor_)) factor_.setZero();  // it was checked: rounding only
    for (Eigen::Index i = 0; i < particles_.cols(); ++i) {
      for (Eigen::Index j = 0; j < draw_.size(); ++j) draw_(j) = normal_(random_);
      to_ = belief_.state;
      to_.noalias() += factor_ * draw_;
      particles_.col(i) = to_;
    }
    weights_.setConstant(1.0 / static_cast<double>(particles_.cols()));
  }

  void add_noise(Vector<N>& state) {
    if (process_is_diagonal_) {
      for (Eigen::Index j = 0; j < state.size(); ++j) state(j) += factor_(j, j) * normal_(random_);
      return;
    }
    for (Eigen::Index j = 0; j < draw_.size(); ++j) draw_(j) = normal_(random_);
    state.noalias() += factor_ * draw_;
  }

  /// Without the constant, which weighs all particles alike.
  double log_likelihood(const Vector<P>& measurement) {
    double sum = 0;
    for (Eigen::Index i = 0; i < output_.size(); ++i) {
      double residual = std::isnan(measurement(i)) ? 0 : measurement(i) - output_(i);
      for (Eigen::Index j = 0; j < i; ++j) residual -= noise_factor_(i, j) * output_(j);
      residual /= noise_factor_(i, i);
      output_(i) = residual;
      sum += residual * residual;
    }
    return std::isnan(sum) ? -std::numeric_limits<double>::infinity() : -0.5 * sum;
  }

  void summarise() {
    belief_.state.noalias() = particles_ * weights_;
    belief_.covariance.setZero();
    for (Eigen::Index i = 0; i < particles_.cols(); ++i) {
      to_ = particles_.col(i) - belief_.state;
      const double weight = weights_(i);
      for (Eigen::Index j = 0; j < to_.size(); ++j) {
        for (Eigen::Index k = 0; k <= j; ++k) belief_.covariance(j, k) += weight * to_(j) * to_(k);
      }
    }
    for (Eigen::Index j = 0; j < to_.size(); ++j) {
      for (Eigen::Index k = 0; k < j; ++k) belief_.covariance(k, j) = belief_.covariance(j, k);
    }
  }

  void draw_anew() {
    resample(resampling_, weights_, parents_, random_);
    for (Eigen::Index i = 0; i < particles_.cols(); ++i) {
      drawn_.col(i) = particles_.col(parents_[static_cast<std::size_t>(i)]);
    }
    particles_.swap(drawn_);
    weights_.setConstant(1.0 / static_cast<double>(particles_.cols()));
  }

  Model model_;
  Resampling resampling_;
  Noise<N, P> noise_;
  Belief<N> belief_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  bool process_is_diagonal_ = false;
  Cloud particles_;
  Cloud drawn_;
  Eigen::VectorXd weights_;
  std::vector<std::uint32_t> parents_;
  Matrix<N, N> factor_;
  Matrix<P, P> noise_factor_;
  Matrix<P, P> available_;
  Vector<N> from_;
  Vector<N> to_;
  Vector<N> draw_;
  Vector<P> output_;
};

}  // namespace takt::estimation
