#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "takt/estimation/belief.hpp"
#include "takt/estimation/refusal.hpp"

namespace takt::estimation {

/// A pivot that is smaller than this share of its own variance counts as zero, as it is nothing but
/// rounding. It is relative to each variance, so that units do not matter.
constexpr double vanishing_pivot = 1e-13;

/// Whether no element is infinite or NaN. Unlike Eigen's allFinite() it looks at several elements
/// at once.
template <typename Derived>
[[nodiscard]] bool is_finite(const Eigen::MatrixBase<Derived>& matrix) {
  return (matrix.derived() * 0.0).sum() == 0;
}

template <typename Derived>
void symmetrise(Eigen::MatrixBase<Derived>& matrix) {
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const double mean = 0.5 * (matrix(i, j) + matrix(j, i));
      matrix(i, j) = mean;
      matrix(j, i) = mean;
    }
  }
}

/// Whether `size` by `size` numbers, row by row, are a covariance, as below. `scratch` has room for
/// as many.
[[nodiscard]] Refusal check_covariance(const double* numbers, Eigen::Index size, double* scratch);

/// Whether the matrix is a covariance: finite, symmetric and positive semi-definite, each up to
/// rounding. Allocates above 64 rows only.
template <typename Derived>
[[nodiscard]] Refusal check_covariance(const Eigen::MatrixBase<Derived>& matrix) {
  const Eigen::Index size = matrix.rows();
  if (size != matrix.cols() || size == 0) return Refusal::wrong_size;
  constexpr Eigen::Index on_stack = 64;
  const auto check = [&](double* numbers, double* scratch) {
    for (Eigen::Index i = 0; i < size; ++i) {
      for (Eigen::Index j = 0; j < size; ++j) numbers[i * size + j] = matrix(i, j);
    }
    return check_covariance(numbers, size, scratch);
  };
  if (size <= on_stack) {
    std::array<double, on_stack * on_stack> numbers;  // NOLINT: all that is read is written
    std::array<double, on_stack * on_stack> scratch;  // NOLINT
    return check(numbers.data(), scratch.data());
  }
  std::vector<double> numbers(static_cast<std::size_t>(size * size));
  std::vector<double> scratch(numbers.size());
  return check(numbers.data(), scratch.data());
}

/// Whether a filter of so many states may start from `belief`.
template <int N>
[[nodiscard]] Refusal check_start(const Belief<N>& belief, Eigen::Index states) {
  if (belief.state.size() != states || belief.covariance.rows() != states) {
    return Refusal::wrong_size;
  }
  if (!belief.state.allFinite()) return Refusal::not_finite;
  return check_covariance(belief.covariance);
}

/// The lower Cholesky factor of a positive semi-definite matrix, with a column of zeros where the
/// pivot vanishes. False if the matrix is not positive semi-definite. No allocation.
template <typename Source, typename Target>
[[nodiscard]] bool cholesky(const Eigen::MatrixBase<Source>& matrix,
                            Eigen::MatrixBase<Target>& factor) {
  const Eigen::Index size = matrix.rows();
  factor.setZero();
  for (Eigen::Index j = 0; j < size; ++j) {
    const double variance = matrix(j, j);
    double pivot = variance;
    for (Eigen::Index k = 0; k < j; ++k) pivot -= factor(j, k) * factor(j, k);
    if (!(pivot >= -vanishing_pivot * static_cast<double>(size) * std::abs(variance))) return false;
    const bool vanishes = pivot <= vanishing_pivot * std::abs(variance);
    if (!vanishes) factor(j, j) = std::sqrt(pivot);
    for (Eigen::Index i = j + 1; i < size; ++i) {
      double rest = matrix(i, j);
      for (Eigen::Index k = 0; k < j; ++k) rest -= factor(i, k) * factor(j, k);
      if (!vanishes) {
        factor(i, j) = rest / factor(j, j);
      } else if (std::abs(rest) > 1e-6 * std::sqrt(std::abs(matrix(i, i) * variance))) {
        // 1e-6: the square root of what rounding leaves of a pivot.
        return false;
      }
    }
  }
  return true;
}

/// Whether a Cholesky factor of `matrix` shows it to be singular.
template <typename Source, typename Factor>
[[nodiscard]] bool is_singular(const Eigen::MatrixBase<Source>& matrix,
                               const Eigen::MatrixBase<Factor>& factor) {
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    if (!(factor(i, i) * factor(i, i) > vanishing_pivot * matrix(i, i))) return true;
  }
  return false;
}

/// Solves (L Lᵀ) X = B in place of B; L is a lower factor without zeros on its diagonal.
template <typename Factor, typename Target>
void solve_in_place(const Eigen::MatrixBase<Factor>& factor, Eigen::MatrixBase<Target>& target) {
  const Eigen::Index size = factor.rows();
  for (Eigen::Index column = 0; column < target.cols(); ++column) {
    for (Eigen::Index i = 0; i < size; ++i) {
      double sum = target(i, column);
      for (Eigen::Index j = 0; j < i; ++j) sum -= factor(i, j) * target(j, column);
      target(i, column) = sum / factor(i, i);
    }
    for (Eigen::Index i = size; i-- > 0;) {
      double sum = target(i, column);
      for (Eigen::Index j = i + 1; j < size; ++j) sum -= factor(j, i) * target(j, column);
      target(i, column) = sum / factor(i, i);
    }
  }
}

}  // namespace takt::estimation
