#include "takt/estimation/handoff.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace takt::estimation {

double InputBox::margin(const AnyVector& input) const {
  double least = 1;
  for (Eigen::Index i = 0; i < input.size(); ++i) {
    const double half = 0.5 * (upper(i) - lower(i));
    const double nearest = std::min(input(i) - lower(i), upper(i) - input(i));
    if (std::isnan(nearest)) return -std::numeric_limits<double>::infinity();
    if (half > 0) {
      least = std::min(least, nearest / half);
    } else if (nearest < 0) {
      return -std::numeric_limits<double>::infinity();
    }
  }
  return least;
}

Duration least_window(Duration period, std::int64_t load_periods, Duration actuation_delay) {
  return std::max(period, load_periods * period + actuation_delay);
}

double Handoff::error_norm(const AnyVector& error) const {
  const auto weighted = error.cwiseProduct(weights);
  return norm == ErrorNorm::euclidean ? weighted.norm() : weighted.cwiseAbs().maxCoeff();
}

}  // namespace takt::estimation
