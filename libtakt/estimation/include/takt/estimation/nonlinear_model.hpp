#pragma once

#include <concepts>

#include "takt/estimation/belief.hpp"

namespace takt::estimation {

/// A nonlinear system in discrete time, as the filters ask for it: x⁺ = f(x, u) + noise(Q),
/// y = h(x, u) + noise(R). N, M and P are the numbers of states, inputs and measurements, or
/// Eigen::Dynamic. Its functions do not allocate; they may keep scratch space, so that each filter
/// has a model of its own.
template <typename Model>
concept NonlinearModel = requires(Model& model, const Vector<Model::N>& x,
                                  const Vector<Model::M>& u, Vector<Model::N>& next,
                                  Vector<Model::P>& y) {
  { model.states() } -> std::convertible_to<Eigen::Index>;
  { model.inputs() } -> std::convertible_to<Eigen::Index>;
  { model.measurements() } -> std::convertible_to<Eigen::Index>;
  model.step(x, u, next);
  model.output(x, u, y);
};

/// A model that knows its derivatives: F = df/dx and H = dh/dx.
template <typename Model>
concept DifferentiableModel = NonlinearModel<Model> &&
    requires(Model& model, const Vector<Model::N>& x, const Vector<Model::M>& u,
             Vector<Model::N>& next, Matrix<Model::N, Model::N>& f, Matrix<Model::P, Model::N>& h) {
  model.step(x, u, next, f);
  model.output_jacobian(x, u, h);
};

/// Process noise Q and measurement noise R.
template <int N, int P>
struct Noise {
  Matrix<N, N> process;
  Matrix<P, P> measurement;
};

}  // namespace takt::estimation
