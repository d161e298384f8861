#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/estimation/expression.hpp"
#include "takt/estimation/nonlinear_model.hpp"

namespace takt::estimation {

/// A plant as documents describe it.
struct PlantDescription {
  std::string name;
  std::vector<std::string> states;
  std::vector<std::string> inputs;
  std::vector<std::string> measurements;
  std::map<std::string, double> parameters;
  bool is_continuous = true;
  int integration_steps = 1;
  std::vector<std::string> dynamics;
  std::vector<std::string> outputs;
  std::vector<std::vector<std::string>> dynamics_jacobian;
  std::vector<std::vector<std::string>> outputs_jacobian;
};

/// A plant that filters can run: its formulas, translated, and the integration of its dynamics over
/// one period with the input held. A DifferentiableModel of sizes known at run time. Copies share
/// the formulas and have scratch space of their own.
class Plant {
 public:
  static constexpr int N = Eigen::Dynamic;
  static constexpr int M = Eigen::Dynamic;
  static constexpr int P = Eigen::Dynamic;

  static constexpr std::size_t most_states = 16;
  static constexpr std::size_t most_measurements = 64;

  /// `period` in seconds. Errors name the field below `path`.
  [[nodiscard]] static Result<Plant> make(const PlantDescription& description, double period,
                                          std::string_view path);

  [[nodiscard]] Eigen::Index states() const { return states_; }
  [[nodiscard]] Eigen::Index inputs() const { return inputs_; }
  [[nodiscard]] Eigen::Index measurements() const { return measurements_; }

  /// x⁺ = f(x, u): the state one period later.
  void step(const AnyVector& state, const AnyVector& input, AnyVector& next);
  /// The same, and its derivative by the state.
  void step(const AnyVector& state, const AnyVector& input, AnyVector& next, AnyMatrix& jacobian);
  /// y = h(x, u), and dh/dx.
  void output(const AnyVector& state, const AnyVector& input, AnyVector& output);
  void output_jacobian(const AnyVector& state, const AnyVector& input, AnyMatrix& jacobian);

  /// The dynamics as described: the derivative by time, or the next state.
  void dynamics(const AnyVector& state, const AnyVector& input, AnyVector& value);

 private:
  struct Translated {
    Formulas dynamics;
    Formulas dynamics_with_jacobian;  // f, then df/dx row by row
    Formulas outputs;
    Formulas outputs_jacobian;
  };

  Plant(const PlantDescription& description, double period,
        std::shared_ptr<const Translated> translated);

  void evaluate(const Formulas& formulas, const AnyVector& state, const AnyVector& input);
  /// The dynamics and their derivative at `state`.
  void slope(const AnyVector& state, const AnyVector& input, AnyVector& value, AnyMatrix& jacobian);

  Eigen::Index states_;
  Eigen::Index inputs_;
  Eigen::Index measurements_;
  bool is_continuous_;
  int steps_;
  double step_;  // seconds
  std::shared_ptr<const Translated> formulas_;
  std::vector<double> variables_;
  std::vector<double> registers_;
  std::vector<double> values_;
  AnyVector at_;
  std::array<AnyVector, 4> slopes_;
  AnyMatrix partial_;
  AnyMatrix product_;
  std::array<AnyMatrix, 4> slope_jacobians_;
};

static_assert(DifferentiableModel<Plant>);

}  // namespace takt::estimation
