#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "takt/base/error.hpp"

namespace takt::estimation {

/// Formulas in the notation in which SymPy prints them (docs/estimation.md has the grammar),
/// translated for evaluation without allocation. Equal parts of all formulas of a set are evaluated
/// once.
class Formulas {
 public:
  /// `variables` are given when the formulas are evaluated, in this order; `constants` now.
  Formulas(const std::vector<std::string>& variables,
           const std::map<std::string, double>& constants);

  /// Adds a formula. Errors begin with `where`, and say where in `text` they are. All formulas of a
  /// set together have at most a million operations.
  [[nodiscard]] Result<void> add(std::string_view text, std::string_view where);

  /// How many formulas there are, and how many numbers evaluation needs as scratch space.
  [[nodiscard]] std::size_t size() const { return results_.size(); }
  [[nodiscard]] std::size_t registers() const { return nodes_.size(); }

  /// Values of all formulas, in the order in which they were added.
  void evaluate(const double* variables, double* registers, double* values) const;

  static constexpr std::size_t longest = 65536;
  static constexpr std::size_t most_nodes = std::size_t{1} << 20;

 private:
  friend class FormulaReader;

  enum class Operation : std::uint8_t {
    constant,
    variable,
    add,
    subtract,
    multiply,
    divide,
    negate,
    power,
    sine,
    cosine,
    tangent,
    arc_sine,
    arc_cosine,
    arc_tangent,
    hyperbolic_sine,
    hyperbolic_cosine,
    hyperbolic_tangent,
    area_sine,
    area_cosine,
    area_tangent,
    exponential,
    logarithm,
    square_root,
    absolute,
    sign,
    step,
    arc_tangent2,
    least,
    largest,
  };

  struct Node {
    Operation operation;
    std::uint32_t first;   // register, or the index of a variable
    std::uint32_t second;  // register
    double value;          // of a constant
  };

  static double apply(Operation operation, double first, double second);
  std::uint32_t constant(double value);
  std::uint32_t node(Operation operation, std::uint32_t first, std::uint32_t second = 0);

  std::map<std::string, std::uint32_t, std::less<>> names_;  // to registers
  std::map<std::tuple<Operation, std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t>
      known_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> results_;
};

}  // namespace takt::estimation
