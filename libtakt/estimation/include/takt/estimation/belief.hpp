#pragma once

#include <Eigen/Core>

namespace takt::estimation {

template <int Rows>
using Vector = Eigen::Matrix<double, Rows, 1>;
template <int Rows, int Columns>
using Matrix = Eigen::Matrix<double, Rows, Columns>;

/// The belief of a filter about a state of N numbers (Eigen::Dynamic: known at run time): an
/// estimate and the covariance of its error.
template <int N>
struct Belief {
  Vector<N> state;
  Matrix<N, N> covariance;
};

using AnyVector = Vector<Eigen::Dynamic>;
using AnyMatrix = Matrix<Eigen::Dynamic, Eigen::Dynamic>;
using AnyBelief = Belief<Eigen::Dynamic>;

}  // namespace takt::estimation
