#pragma once

#include <cmath>

#include "takt/estimation/refusal.hpp"

namespace takt::estimation {

/// Where the sigma points lie and what they weigh, for n states. (The dissertation prints the first
/// weights of mean and covariance in each other's place; see fact A-50.)
struct Unscented {
  double alpha = 1;
  double beta = 2;
  double kappa = 0;

  [[nodiscard]] double lambda(double n) const { return alpha * alpha * (n + kappa) - n; }
  /// n + lambda: the squared distance of the points in standard deviations; must be above 0.
  [[nodiscard]] double spread(double n) const { return alpha * alpha * (n + kappa); }
  [[nodiscard]] double first_mean(double n) const { return lambda(n) / spread(n); }
  [[nodiscard]] double first_covariance(double n) const {
    return first_mean(n) + 1 - alpha * alpha + beta;
  }
  [[nodiscard]] double other(double n) const { return 1 / (2 * spread(n)); }

  [[nodiscard]] Refusal check(double n) const {
    if (!std::isfinite(alpha) || !std::isfinite(beta) || !std::isfinite(kappa)) {
      return Refusal::not_finite;
    }
    return spread(n) > 0 ? Refusal::none : Refusal::spread_not_positive;
  }
};

}  // namespace takt::estimation
