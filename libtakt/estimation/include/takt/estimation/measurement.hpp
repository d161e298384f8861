#pragma once

#include <cmath>

#include "takt/estimation/belief.hpp"
#include "takt/estimation/refusal.hpp"

namespace takt::estimation {

/// Counts the components of a measurement that an update can use: those that are NaN are missing.
/// Refused if one is infinite.
template <typename Derived>
[[nodiscard]] Outcome usable(const Eigen::MatrixBase<Derived>& measurement) {
  if (measurement.array().isInf().any()) return {.refusal = Refusal::not_finite};
  return {.used = static_cast<int>(measurement.size() - measurement.array().isNaN().count())};
}

/// Gives a missing component a noise of its own. As nothing else depends on the component, the
/// result is exactly as without it, and sizes stay the same.
template <typename Derived>
void leave_out(Eigen::Index component, Eigen::MatrixBase<Derived>& covariance) {
  covariance.row(component).setZero();
  covariance.col(component).setZero();
  covariance(component, component) = 1;
}

/// Prediction with the input of the period that ends now, then the update.
template <typename Filter, typename Input, typename Measurement>
[[nodiscard]] Outcome predict_and_update(Filter& filter, const Input& input,
                                         const Measurement& measurement) {
  if (const Refusal refusal = filter.predict(input); refusal != Refusal::none) {
    return {.refusal = refusal};
  }
  return filter.update(input, measurement);
}

}  // namespace takt::estimation
