#include "takt/estimation/dual_mode.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace takt::estimation {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::size_t samples_in_window(const HandoverTiming& timing) {
  // A hand-over that takes longer has failed. A window of more periods than this is a mistake,
  // which must not take much memory.
  constexpr std::int64_t most = 4096;
  return static_cast<std::size_t>(
      std::min(most, std::max(timing.load_periods, timing.window / timing.period) + 2));
}

}  // namespace

std::string_view to_string(Mode mode) {
  constexpr std::array<std::string_view, 5> names{"linear", "to_nonlinear", "nonlinear",
                                                  "to_linear", "fail_safe"};
  return names[static_cast<std::size_t>(mode)];
}

std::string_view to_string(Failure failure) {
  constexpr std::array<std::string_view, 5> names{"none", "input_not_physical", "deadline_missed",
                                                  "window_exceeded", "filter_failed"};
  return names[static_cast<std::size_t>(failure)];
}

std::string_view explain(Denial denial) {
  constexpr std::array<std::string_view, 5> sentences{
      "the linear mode is safe", "the input is outside the decision bound",
      "the confidence set of the estimate is not inside the region of the way back, or too wide",
      "a hand-over is under way", "the estimator is in its fail-safe mode"};
  return sentences[static_cast<std::size_t>(denial)];
}

DualMode::DualMode(const Handoff& handoff, Options options)
    : timing_(handoff.timing),
      physical_(handoff.physical),
      decision_(handoff.decision),
      back_(handoff.back),
      confidence_{handoff.deviations, handoff.tail, handoff.half_widths},
      linear_(make_linear(handoff, std::max<std::size_t>(1, options.remembered))),
      loader_(make_nonlinear(handoff, std::max<std::size_t>(1, options.remembered)), handoff,
              samples_in_window(handoff.timing), !options.load_in_other_thread),
      window_(handoff.timing.window),
      sample_{.time = {},
              .input = AnyVector::Zero(handoff.plant.inputs()),
              .measurement = AnyVector::Zero(handoff.plant.measurements())},
      before_(handoff.start),
      estimate_(&linear_->belief()) {
  static_cast<void>(restart(handoff.start));
}

Refusal DualMode::restart(const AnyBelief& belief) {
  if (loader_.is_busy()) return Refusal::handing_over;
  if (const Refusal refusal = linear_->restart(belief); refusal != Refusal::none) return refusal;
  if (const Refusal refusal = loader_.estimator().restart(belief); refusal != Refusal::none) {
    return refusal;
  }
  failure_ = Failure::none;
  window_is_open_ = false;
  safe_in_succession_ = 0;
  linear_is_requested_ = false;
  has_sample_ = false;
  if (linear_->bound_in(back_, confidence_) <= 0) {
    nonlinear_runs_ = false;
    estimate_ = &linear_->belief();
    enter(Mode::linear);
  } else {
    nonlinear_runs_ = true;
    estimate_ = &loader_.estimator().belief();
    enter(Mode::nonlinear);
  }
  return Refusal::none;
}

void DualMode::enter(Mode mode) {
  mode_ = mode;
  ++entered_[static_cast<std::size_t>(mode)];
}

void DualMode::fail(Failure failure) {
  if (mode_ == Mode::fail_safe) return;
  failure_ = failure;
  enter(Mode::fail_safe);
}

/// A refusal after which the filter cannot go on ends the guarantee. A measurement that the filter
/// could not use counts as missing.
void DualMode::note(const Outcome& outcome) {
  report_.outcome = outcome;
  if (!outcome.ok() && outcome.refusal != Refusal::singular_innovation) {
    fail(Failure::filter_failed);
  }
}

Outcome DualMode::step_linear() { return linear_->step(sample_.input, sample_.measurement); }

Outcome DualMode::step_nonlinear() {
  return loader_.estimator().step(sample_.input, sample_.measurement);
}

/// Keeps the sample. Before the first sample, the input is taken to have been inside. An infinite
/// component of the measurement counts as missing.
Refusal DualMode::accept(const Sample& sample) {
  if (sample.input.size() != sample_.input.size() ||
      sample.measurement.size() != sample_.measurement.size()) {
    return Refusal::wrong_size;
  }
  sample_.time = sample.time;
  sample_.input = sample.input;
  Refusal refusal = Refusal::none;
  for (Eigen::Index i = 0; i < sample.measurement.size(); ++i) {
    const double value = sample.measurement(i);
    if (std::isinf(value)) refusal = Refusal::not_finite;
    sample_.measurement(i) = std::isinf(value) ? unknown : value;
  }
  if (!has_sample_) note_inside(sample.time - timing_.period);
  has_sample_ = true;
  return refusal;
}

void DualMode::note_inside(Instant time) {
  window_.sampled_inside(time);
  periods_since_inside_ = 0;
}

const StepReport& DualMode::report() {
  report_.mode = mode_;
  report_.failure = failure_;
  return report_;
}

StepReport DualMode::step(const Sample& sample) {
  report_ = {};
  report_.region_margin = unknown;
  const Refusal refusal = accept(sample);
  if (refusal == Refusal::wrong_size) {
    report_.outcome.refusal = refusal;
    return report();
  }
  ++periods_since_inside_;
  report_.input_margin = decision_.margin(sample_.input);
  if (!physical_.contains(sample_.input)) fail(Failure::input_not_physical);
  switch (mode_) {
    case Mode::linear:
      step_in_linear();
      break;
    case Mode::to_nonlinear:
      note(step_linear());
      loader_.feed(sample_.input, sample_.measurement);
      settle_handover();
      break;
    case Mode::nonlinear:
      note(step_nonlinear());
      if (mode_ == Mode::nonlinear) consider_return();
      break;
    case Mode::to_linear:
      note(step_nonlinear());
      if (mode_ == Mode::to_linear) settle_return();
      break;
    case Mode::fail_safe:
      step_in_fail_safe();
      break;
  }
  if (report_.outcome.ok()) report_.outcome.refusal = refusal;
  return report();
}

void DualMode::step_in_linear() {
  if (decision_.contains(sample_.input)) {
    note(step_linear());
    note_inside(sample_.time);
    return;
  }
  // The nonlinear filter starts from the belief before this sample and sees the sample itself: the
  // linear one may not be trusted with it.
  before_ = linear_->belief();
  note(step_linear());
  if (mode_ == Mode::fail_safe) return;
  enter(Mode::to_nonlinear);
  window_is_open_ = true;
  loader_.begin(before_);
  loader_.feed(sample_.input, sample_.measurement);
  settle_handover();
}

void DualMode::settle_handover() {
  if (mode_ == Mode::fail_safe) return;
  if (loader_.ready()) {
    if (!loader_.outcome().ok()) {
      report_.outcome = loader_.outcome();
      fail(Failure::filter_failed);
      return;
    }
    nonlinear_runs_ = true;
    estimate_ = &loader_.estimator().belief();
    report_.is_first_nonlinear = true;
    safe_in_succession_ = 0;
    latest_denial_ = decision_.contains(sample_.input) ? Denial::confidence_outside_region
                                                       : Denial::input_outside_decision_bound;
    enter(Mode::nonlinear);
    return;
  }
  // At the next sample it would be too late.
  if (periods_since_inside_ >= timing_.load_periods ||
      window_.since_inside(sample_.time) > timing_.window) {
    fail(Failure::deadline_missed);
  }
}

void DualMode::settle_return() {
  const Outcome outcome = step_linear();
  latest_denial_ = denial();
  if (latest_denial_ != Denial::none || !outcome.ok()) {
    // The way back is given up; the nonlinear estimates were in use all the time.
    safe_in_succession_ = 0;
    enter(Mode::nonlinear);
    return;
  }
  note_inside(sample_.time);
  linear_is_requested_ = false;
  nonlinear_runs_ = false;
  estimate_ = &linear_->belief();
  enter(Mode::linear);
}

void DualMode::step_in_fail_safe() {
  if (nonlinear_runs_) {
    report_.outcome = step_nonlinear();
    return;
  }
  before_ = linear_->belief();
  report_.outcome = step_linear();
  if (!loader_.is_busy()) loader_.begin(before_);
  loader_.feed(sample_.input, sample_.measurement);
  if (loader_.ready() && loader_.outcome().ok()) {
    nonlinear_runs_ = true;
    estimate_ = &loader_.estimator().belief();
  }
}

StepReport DualMode::used(Instant when) {
  if (window_is_open_ && mode_ != Mode::to_nonlinear) {
    window_is_open_ = false;
    if (!window_.used(when)) fail(Failure::window_exceeded);
  }
  return report();
}

/// Whether both conditions of section 4.5.4 hold: the input in K, and the confidence set in R'∞.
/// The section takes the estimate to be the true state; here the true state may be anywhere in the
/// set.
Denial DualMode::denial() {
  const double bound = loader_.estimator().bound_in(back_, confidence_);
  report_.region_margin = -bound;
  if (!decision_.contains(sample_.input)) return Denial::input_outside_decision_bound;
  return bound <= 0 ? Denial::none : Denial::confidence_outside_region;
}

void DualMode::consider_return() {
  latest_denial_ = denial();
  if (latest_denial_ != Denial::none) {
    safe_in_succession_ = 0;
    return;
  }
  ++safe_in_succession_;
  if (safe_in_succession_ < timing_.return_after) return;
  if (timing_.return_when == ReturnWhen::requested && !linear_is_requested_) return;
  const Refusal refusal = linear_->restart(loader_.estimator().belief());
  if (refusal != Refusal::none) {
    report_.outcome.refusal = refusal;
    return;
  }
  enter(Mode::to_linear);
}

Denial DualMode::request_linear() {
  switch (mode_) {
    case Mode::linear:
    case Mode::to_linear:
      return Denial::none;
    case Mode::to_nonlinear:
      return Denial::handing_over;
    case Mode::fail_safe:
      return Denial::in_fail_safe;
    case Mode::nonlinear:
      break;
  }
  if (latest_denial_ == Denial::none) linear_is_requested_ = true;
  return latest_denial_;
}

Outcome DualMode::measure_late(std::uint64_t age, const AnyVector& measurement) {
  Outcome outcome{.refusal = Refusal::too_old};
  const bool linear_runs = mode_ == Mode::linear || mode_ == Mode::to_nonlinear ||
                           mode_ == Mode::to_linear || !nonlinear_runs_;
  if (linear_runs) outcome = linear_->measure_late(age, measurement);
  if (nonlinear_runs_) {
    const Outcome other = loader_.estimator().measure_late(age, measurement);
    if (mode_ != Mode::linear) outcome = other;
  }
  return outcome;
}

}  // namespace takt::estimation
