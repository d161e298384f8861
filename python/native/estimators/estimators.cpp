#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <memory>

#include "native.hpp"
#include "takt/estimation/dual_mode.hpp"
#include "takt/estimation/extended_kalman.hpp"
#include "takt/estimation/kalman.hpp"
#include "takt/estimation/particle.hpp"
#include "takt/estimation/period_input.hpp"
#include "takt/estimation/rehearsal.hpp"
#include "takt/estimation/unscented_kalman.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace takt::native {

namespace {

using estimation::AnyBelief;
using estimation::AnyMatrix;
using estimation::AnyVector;
using estimation::DualMode;
using estimation::Handoff;
using estimation::Outcome;
using estimation::PeriodInput;
using estimation::Plant;
using estimation::Refusal;
using estimation::Region;
using estimation::StepReport;

constexpr int any = Eigen::Dynamic;
using Kalman = estimation::KalmanFilter<any, any, any>;
using Extended = estimation::ExtendedKalmanFilter<Plant>;
using UnscentedFilter = estimation::UnscentedKalmanFilter<Plant>;
using ParticleCloud = estimation::ParticleFilter<Plant>;

void require(Refusal refusal, std::string_view what) {
  if (refusal == Refusal::none) return;
  throw InputError(fmt::format("{}: {}", what, estimation::explain(refusal)));
}

/// Throws InputError unless the covariances have the right sizes and the belief is valid.
void check(const AnyMatrix& process, const AnyMatrix& measurement, const AnyBelief& start,
           Eigen::Index states, Eigen::Index measurements) {
  require(estimation::check_covariance(process), "process_noise");
  require(estimation::check_covariance(measurement), "measurement_noise");
  require(process.rows() == states ? Refusal::none : Refusal::wrong_size, "process_noise");
  require(measurement.rows() == measurements ? Refusal::none : Refusal::wrong_size,
          "measurement_noise");
  require(estimation::check_start(start, states), "start");
}

/// The interface of all filters. A step keeps the GIL, because releasing it would take longer.
template <typename Filter>
nb::class_<Filter> bind_filter(nb::module_& module, const char* name) {
  return nb::class_<Filter>(module, name)
      .def_prop_ro("state", [](const Filter& filter) { return filter.belief().state; })
      .def_prop_ro("covariance", [](const Filter& filter) { return filter.belief().covariance; })
      .def("step", &Filter::step, "inputs"_a, "measurement"_a)
      .def("update", &Filter::update, "inputs"_a, "measurement"_a)
      .def(
          "restart",
          [](Filter& filter, const AnyVector& state, const AnyMatrix& covariance) {
            return std::string(to_string(filter.restart({state, covariance})));
          },
          "state"_a, "covariance"_a);
}

void bind_filters(nb::module_& module) {
  nb::class_<Outcome>(module, "Outcome")
      .def_prop_ro("refusal",
                   [](const Outcome& outcome) { return std::string(to_string(outcome.refusal)); })
      .def_ro("used", &Outcome::used)
      .def_ro("innovation", &Outcome::innovation)
      .def_ro("mended", &Outcome::mended)
      .def_prop_ro("ok", &Outcome::ok);
  nb::class_<Plant>(module, "Plant")
      .def(
          "__init__",
          [](Plant* self, std::vector<std::string> states, std::vector<std::string> inputs,
             std::vector<std::string> measurements, std::vector<std::string> dynamics,
             std::vector<std::string> outputs,
             std::vector<std::vector<std::string>> dynamics_jacobian,
             std::vector<std::vector<std::string>> outputs_jacobian,
             std::map<std::string, double> parameters, double period, bool continuous,
             int integration_steps) {
            if (!(period > 0) || integration_steps < 1 || integration_steps > 1000) {
              throw InputError("period and integration_steps: must be above 0, and at most 1000");
            }
            new (self) Plant(unwrap(Plant::make({.name = {},
                                                 .states = std::move(states),
                                                 .inputs = std::move(inputs),
                                                 .measurements = std::move(measurements),
                                                 .parameters = std::move(parameters),
                                                 .is_continuous = continuous,
                                                 .integration_steps = integration_steps,
                                                 .dynamics = std::move(dynamics),
                                                 .outputs = std::move(outputs),
                                                 .dynamics_jacobian = std::move(dynamics_jacobian),
                                                 .outputs_jacobian = std::move(outputs_jacobian)},
                                                period, "plant")));
          },
          nb::kw_only(), "states"_a, "inputs"_a, "measurements"_a, "dynamics"_a, "outputs"_a,
          "dynamics_jacobian"_a, "outputs_jacobian"_a,
          "parameters"_a = std::map<std::string, double>{}, "period"_a = 1.0, "continuous"_a = true,
          "integration_steps"_a = 1)
      .def(
          "step",
          [](Plant& plant, const AnyVector& state, const AnyVector& input) {
            if (state.size() != plant.states() || input.size() != plant.inputs()) {
              throw InputError("step: a state or input of the wrong size");
            }
            AnyVector next(plant.states());
            AnyMatrix jacobian(plant.states(), plant.states());
            plant.step(state, input, next, jacobian);
            return std::pair(next, jacobian);
          },
          "state"_a, "inputs"_a, "The state one period later, and its derivative by the state.")
      .def(
          "output",
          [](Plant& plant, const AnyVector& state, const AnyVector& input) {
            if (state.size() != plant.states() || input.size() != plant.inputs()) {
              throw InputError("output: a state or input of the wrong size");
            }
            AnyVector output(plant.measurements());
            AnyMatrix jacobian(plant.measurements(), plant.states());
            plant.output(state, input, output);
            plant.output_jacobian(state, input, jacobian);
            return std::pair(output, jacobian);
          },
          "state"_a, "inputs"_a, "The measurement, and its derivative by the state.");

  bind_filter<Kalman>(module, "KalmanFilter")
      .def(
          "__init__",
          [](Kalman* self, const AnyMatrix& a, const AnyMatrix& b, const AnyMatrix& c,
             const AnyMatrix& d, const AnyMatrix& process, const AnyMatrix& measurement,
             const AnyVector& state, const AnyMatrix& covariance) {
            const Kalman::Model model{a, b, c, d, process, measurement};
            require(model.check(), "KalmanFilter");
            const AnyBelief start{state, covariance};
            require(estimation::check_start(start, a.rows()), "start");
            new (self) Kalman(model, start);
          },
          "state_matrix"_a, "input_matrix"_a, "output_matrix"_a, "feedthrough_matrix"_a,
          "process_noise"_a, "measurement_noise"_a, "state"_a, "covariance"_a)
      .def(
          "predict",
          [](Kalman& filter, const AnyVector& input) {
            return std::string(to_string(filter.predict(input)));
          },
          "inputs"_a);
  bind_filter<Extended>(module, "ExtendedKalmanFilter")
      .def(
          "__init__",
          [](Extended* self, const Plant& plant, const AnyMatrix& process,
             const AnyMatrix& measurement, const AnyVector& state, const AnyMatrix& covariance) {
            const AnyBelief start{state, covariance};
            check(process, measurement, start, plant.states(), plant.measurements());
            new (self) Extended(plant, {process, measurement}, start);
          },
          "plant"_a, "process_noise"_a, "measurement_noise"_a, "state"_a, "covariance"_a)
      .def(
          "predict",
          [](Extended& filter, const AnyVector& input) {
            return std::string(to_string(filter.predict(input)));
          },
          "inputs"_a);
  bind_filter<UnscentedFilter>(module, "UnscentedKalmanFilter")
      .def(
          "__init__",
          [](UnscentedFilter* self, const Plant& plant, const AnyMatrix& process,
             const AnyMatrix& measurement, const AnyVector& state, const AnyMatrix& covariance,
             double alpha, double beta, double kappa) {
            const AnyBelief start{state, covariance};
            check(process, measurement, start, plant.states(), plant.measurements());
            const estimation::Unscented unscented{alpha, beta, kappa};
            require(unscented.check(static_cast<double>(plant.states())), "sigma points");
            new (self) UnscentedFilter(plant, unscented, {process, measurement}, start);
          },
          "plant"_a, "process_noise"_a, "measurement_noise"_a, "state"_a, "covariance"_a,
          "alpha"_a = 1.0, "beta"_a = 2.0, "kappa"_a = 0.0)
      .def(
          "predict",
          [](UnscentedFilter& filter, const AnyVector& input) {
            bool mended = false;
            return std::string(to_string(filter.predict(input, mended)));
          },
          "inputs"_a);
  bind_filter<ParticleCloud>(module, "ParticleFilter")
      .def(
          "__init__",
          [](ParticleCloud* self, const Plant& plant, const AnyMatrix& process,
             const AnyMatrix& measurement, const AnyVector& state, const AnyMatrix& covariance,
             std::size_t particles, std::uint64_t seed) {
            const AnyBelief start{state, covariance};
            check(process, measurement, start, plant.states(), plant.measurements());
            require(particles == 0 ? Refusal::no_particles : Refusal::none, "particles");
            if (particles > 10'000'000) throw InputError("particles: more than ten millions");
            new (self) ParticleCloud(plant, {.count = particles, .seed = seed},
                                     {process, measurement}, start);
          },
          "plant"_a, "process_noise"_a, "measurement_noise"_a, "state"_a, "covariance"_a,
          "particles"_a = 1000, "seed"_a = 1)
      .def_prop_ro("particles",
                   [](const ParticleCloud& filter) -> AnyMatrix { return filter.particles(); })
      .def_prop_ro("weights",
                   [](const ParticleCloud& filter) -> AnyVector { return filter.weights(); })
      .def(
          "percentile",
          [](ParticleCloud& filter, Eigen::Index state, double share) {
            if (state < 0 || state >= filter.particles().rows()) {
              throw InputError("percentile: there is no such state");
            }
            return filter.percentile(state, share);
          },
          "state"_a, "share"_a)
      .def(
          "predict",
          [](ParticleCloud& filter, const AnyVector& input) {
            return std::string(to_string(filter.predict(input)));
          },
          "inputs"_a);
}

void bind_region(nb::module_& module) {
  const auto fits = [](const Region& region, const AnyVector& point) {
    if (static_cast<std::size_t>(point.size()) != region.dimensions()) {
      throw InputError("a point with another number of coordinates than the region has axes");
    }
  };
  nb::class_<Region>(module, "Region")
      .def_prop_ro("dimensions", &Region::dimensions)
      .def(
          "bound",
          [fits](const Region& region, const AnyVector& point) {
            fits(region, point);
            return region.bound(point.data());
          },
          "point"_a)
      .def(
          "bound_of_box",
          [fits](const Region& region, const AnyVector& lower, const AnyVector& upper) {
            fits(region, lower);
            fits(region, upper);
            return region.bound_of_box(lower.data(), upper.data());
          },
          "lower"_a, "upper"_a)
      .def(
          "gradient",
          [fits](const Region& region, const AnyVector& point) {
            fits(region, point);
            AnyVector slope(point.size());
            region.gradient(point.data(), slope.data());
            return slope;
          },
          "point"_a);
}

using Rows = Eigen::Matrix<double, any, any, Eigen::RowMajor>;

/// The largest errors of many sequences, in units of ε; NaN where the guard refuses the linear
/// mode.
AnyVector rehearse(const Handoff& handoff, const Rows& estimates, const Rows& half_widths,
                   const Rows& states, const Rows& inputs) {
  const Eigen::Index count = estimates.rows();
  const Eigen::Index n = handoff.plant.states();
  const Eigen::Index m = handoff.plant.inputs();
  if (estimates.cols() != n || half_widths.rows() != count || half_widths.cols() != n ||
      states.rows() != count || states.cols() != n || inputs.rows() != count ||
      inputs.cols() % m != 0) {
    throw InputError("rehearse: one row for each sequence, with the sizes of the plant");
  }
  AnyVector errors(count);
  const nb::gil_scoped_release unlocked;
  estimation::Rehearsal rehearsal(handoff);
  AnyBelief first = handoff.start;
  for (Eigen::Index i = 0; i < count; ++i) {
    first.state = estimates.row(i);
    const AnyVector deviation =
        (half_widths.row(i).transpose().array() > 0)
            .select(half_widths.row(i).transpose().array() / handoff.deviations.array(), 0.0);
    first.covariance = deviation.array().square().matrix().asDiagonal();
    const AnyMatrix sequence =
        Eigen::Map<const AnyMatrix>(inputs.row(i).data(), m, inputs.cols() / m);
    errors(i) = rehearsal.play(first, states.row(i), sequence)
                    .value_or(std::numeric_limits<double>::quiet_NaN());
  }
  return errors;
}

void bind_dual_mode(nb::module_& module) {
  nb::class_<Handoff>(module, "Handoff")
      .def_ro("name", &Handoff::name)
      .def_ro("epsilon", &Handoff::epsilon)
      .def_ro("plant", &Handoff::plant)
      .def_ro("back", &Handoff::back)
      .def_ro("safe", &Handoff::safe)
      .def_ro("linear_region", &Handoff::linear_region)
      .def_ro("assumptions", &Handoff::assumptions)
      .def_prop_ro("states",
                   [](const Handoff& handoff) { return handoff.plant_description.states; })
      .def_prop_ro("inputs",
                   [](const Handoff& handoff) { return handoff.plant_description.inputs; })
      .def_prop_ro("measurements",
                   [](const Handoff& handoff) { return handoff.plant_description.measurements; })
      .def_prop_ro("operating_input", [](const Handoff& handoff) { return handoff.linear.input; })
      .def_prop_ro("period", [](const Handoff& handoff) { return handoff.timing.period.count(); })
      .def_prop_ro("window", [](const Handoff& handoff) { return handoff.timing.window.count(); })
      .def(
          "decides_linear",
          [](const Handoff& handoff, const AnyVector& input) {
            return handoff.decision.contains(input);
          },
          "inputs"_a)
      .def("error_norm", &Handoff::error_norm, "error"_a)
      .def(
          "rehearse", &rehearse, "estimates"_a, "half_widths"_a, "states"_a, "inputs"_a,
          "The largest errors, in units of epsilon, of sequences of inputs (period by period) from "
          "estimates with the half-widths of their confidence sets, and from true states; NaN "
          "where "
          "the guard refuses the linear mode.");
  module.def(
      "read_handoff",
      [](const std::string& path) { return unwrap(estimation::read_handoff(path)); }, "path"_a);
  module.def(
      "parse_handoff",
      [](const std::string& text, const std::string& source) {
        return unwrap(estimation::parse_handoff(text, source, ""));
      },
      "text"_a, "source"_a);

  nb::class_<PeriodInput>(module, "PeriodInput")
      .def(nb::init<const Handoff&>(), "handoff"_a)
      .def(
          "take",
          [](PeriodInput& inputs, const AnyVector& input) {
            if (input.size() != inputs.size()) {
              throw InputError("an input of another size than the plant has");
            }
            inputs.take(input);
          },
          "inputs"_a)
      .def("end_period", [](PeriodInput& inputs) { return AnyVector(inputs.end_period()); })
      .def_prop_ro("replaced", &PeriodInput::replaced);

  nb::class_<StepReport>(module, "StepReport")
      .def_prop_ro("mode",
                   [](const StepReport& report) { return std::string(to_string(report.mode)); })
      .def_prop_ro("failure",
                   [](const StepReport& report) { return std::string(to_string(report.failure)); })
      .def_ro("outcome", &StepReport::outcome)
      .def_ro("input_margin", &StepReport::input_margin)
      .def_ro("region_margin", &StepReport::region_margin)
      .def_ro("is_first_nonlinear", &StepReport::is_first_nonlinear)
      .def_prop_ro("is_guaranteed", &StepReport::is_guaranteed);
  nb::class_<DualMode>(module, "DualMode")
      .def(
          "__init__",
          [](DualMode* self, const Handoff& handoff, std::size_t remembered) {
            if (remembered < 1 || remembered > 4096) {
              throw InputError("remembered: must be 1 to 4096");
            }
            new (self) DualMode(handoff, {.remembered = remembered});
          },
          "handoff"_a, "remembered"_a = 16)
      .def(
          "step",
          [](DualMode& estimator, std::int64_t time, const AnyVector& input,
             const AnyVector& measurement) {
            return estimator.step({Instant{Duration{time}}, input, measurement});
          },
          "time"_a, "inputs"_a, "measurement"_a)
      .def(
          "used",
          [](DualMode& estimator, std::int64_t time) {
            return estimator.used(Instant{Duration{time}});
          },
          "time"_a)
      .def("measure_late", &DualMode::measure_late, "age"_a, "measurement"_a)
      .def("request_linear",
           [](DualMode& estimator) -> std::optional<std::string> {
             const estimation::Denial denial = estimator.request_linear();
             if (denial == estimation::Denial::none) return std::nullopt;
             return std::string(explain(denial));
           })
      .def(
          "restart",
          [](DualMode& estimator, const AnyVector& state, const AnyMatrix& covariance) {
            return std::string(to_string(estimator.restart({state, covariance})));
          },
          "state"_a, "covariance"_a)
      .def_prop_ro("state", [](const DualMode& estimator) { return estimator.estimate().state; })
      .def_prop_ro("covariance",
                   [](const DualMode& estimator) { return estimator.estimate().covariance; })
      .def_prop_ro(
          "mode",
          [](const DualMode& estimator) { return std::string(to_string(estimator.mode())); })
      .def_prop_ro("handovers",
                   [](const DualMode& estimator) { return estimator.window().count(); })
      .def_prop_ro("latest_window",
                   [](const DualMode& estimator) { return estimator.window().latest().count(); })
      .def_prop_ro("longest_window",
                   [](const DualMode& estimator) { return estimator.window().longest().count(); })
      .def_prop_ro("exceeded",
                   [](const DualMode& estimator) { return estimator.window().exceeded(); });
}

}  // namespace

}  // namespace takt::native

NB_MODULE(takt_estimators, module) {
  module.doc() = "State estimators, and the hand-over between a linear and a nonlinear one.";
  nb::module_::import_("takt_native");
  takt::native::bind_filters(module);
  takt::native::bind_region(module);
  takt::native::bind_dual_mode(module);
}
