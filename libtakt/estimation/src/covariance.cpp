#include "takt/estimation/covariance.hpp"

#include <algorithm>

namespace takt::estimation {

Refusal check_covariance(const double* numbers, Eigen::Index size, double* scratch) {
  constexpr double tolerance = 1e-9;  // of correlations; what decimal documents round to
  const auto at = [&](Eigen::Index i, Eigen::Index j) { return numbers[i * size + j]; };
  if (!std::all_of(numbers, numbers + size * size, [](double x) { return std::isfinite(x); })) {
    return Refusal::not_finite;
  }
  for (Eigen::Index i = 0; i < size; ++i) {
    if (at(i, i) < 0) return Refusal::not_positive_semidefinite;
  }
  // The Cholesky factor of the correlations, their diagonal raised by the tolerance: it exists if
  // no eigenvalue is below minus the tolerance.
  for (Eigen::Index j = 0; j < size; ++j) {
    for (Eigen::Index i = j; i < size; ++i) {
      const double scale = std::sqrt(at(i, i)) * std::sqrt(at(j, j));
      if (scale == 0 && (at(i, j) != 0 || at(j, i) != 0)) {
        return Refusal::not_positive_semidefinite;
      }
      double rest = scale == 0 ? (i == j ? 1 : 0) : at(i, j) / scale;
      if (scale != 0 && std::abs(rest - at(j, i) / scale) > tolerance) {
        return Refusal::not_positive_semidefinite;
      }
      if (i == j) rest += tolerance;
      for (Eigen::Index k = 0; k < j; ++k) rest -= scratch[i * size + k] * scratch[j * size + k];
      if (i == j && !(rest > 0)) return Refusal::not_positive_semidefinite;
      scratch[i * size + j] = i == j ? std::sqrt(rest) : rest / scratch[j * size + j];
    }
  }
  return Refusal::none;
}

}  // namespace takt::estimation
