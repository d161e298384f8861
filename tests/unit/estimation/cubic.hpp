#pragma once

#include <cmath>
#include <string>

#include "takt/estimation/handoff.hpp"

namespace takt::estimation {

/// The worked example of section 6.7: ẋ = -x - x³ + d, linearised at 0. The augmented system is
/// cooperative and odd, so the box |x| ≤ x_κ, |x̂ - x| ≤ x_κ³ with x_κ + x_κ³ = κ is invariant for
/// |d| ≤ κ; from it no |d| ≤ D breaks |x̂ - x| ≤ ε within the window, by the choice of κ. So the
/// region of the way back is |x| ≤ x_κ, exactly, as grids interpolate |x| without error if 0 is a
/// node, with half-widths of up to x_κ³.
struct Cubic {
  /// Below κ* = 0.5506 of the table for D = 1 and a window of 0.2 s.
  double kappa = 0.55;
  double reached = 0.4555;  // x_κ
  double physical = 1;
  std::string period = "20000000";
  std::string load_periods = "10";
  std::string window = "200000000";
  std::string actuation_delay = "0";
  std::string nonlinear = R"({"kind": "ekf"})";
  std::string timing_options = {};
  std::string gain = "[[0]]";
  std::string deviations = "[3]";
  std::string half_widths = "[0.0945]";

  [[nodiscard]] std::string document() const {
    const double seconds = std::stod(period) * 1e-9;
    std::string values;
    for (int i = -100; i <= 100; ++i) {
      values += fmt::format("{}{}", values.empty() ? "" : ", ", std::abs(i) / 100.0 - reached);
    }
    return fmt::format(
        R"({{"format": "takt/handoff", "version": 2, "name": "cubic",
 "plant": {{"states": ["x"], "inputs": ["d"], "measurements": ["y"], "parameters": {{"a": 1}},
   "integration_steps": 2, "dynamics": ["-a*x - x**3 + d"], "outputs": ["x"],
   "jacobians": {{"dynamics": [["-a - 3*x**2"]], "outputs": [["1"]]}},
   "physical_inputs": {{"lower": [-{physical}], "upper": [{physical}]}},
   "process_noise": [[1e-6]], "measurement_noise": [[1e-4]]}},
 "linear": {{"state": [0], "input": [0], "state_matrix": [[{state}]], "input_matrix": [[{input}]],
   "output_matrix": [[1]], "gain": {gain}}},
 "nonlinear": {nonlinear},
 "start": {{"state": [0], "covariance": [[1e-4]]}},
 "error_bound": {{"epsilon": 0.1}},
 "decision": {{"lower": [-{kappa}], "upper": [{kappa}]}},
 "timing": {{"period": {period}, "load_periods": {load_periods}, "window": {window},
   "actuation_delay": {delay}{options}}},
 "confidence": {{"deviations": {deviations}, "half_widths": {half_widths}}},
 "regions": {{"back": {{"space": "state", "axes": [{{"first": -1, "last": 1, "count": 201}}],
   "values": [{values}]}}}}}})",
        fmt::arg("physical", physical), fmt::arg("state", std::exp(-seconds)),
        fmt::arg("input", 1 - std::exp(-seconds)), fmt::arg("nonlinear", nonlinear),
        fmt::arg("kappa", kappa), fmt::arg("period", period),
        fmt::arg("load_periods", load_periods), fmt::arg("window", window),
        fmt::arg("delay", actuation_delay), fmt::arg("options", timing_options),
        fmt::arg("values", values), fmt::arg("gain", gain), fmt::arg("deviations", deviations),
        fmt::arg("half_widths", half_widths));
  }

  [[nodiscard]] Handoff read() const { return parse_handoff(document(), "cubic", "").value(); }
};

}  // namespace takt::estimation
