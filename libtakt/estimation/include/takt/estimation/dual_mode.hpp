#pragma once

#include <memory>

#include "takt/estimation/loader.hpp"
#include "takt/estimation/window_monitor.hpp"

namespace takt::estimation {

enum class Mode : std::uint8_t { linear, to_nonlinear, nonlinear, to_linear, fail_safe };

/// Why the guarantee does not hold any more.
enum class Failure : std::uint8_t {
  none,
  input_not_physical,  // an input that the design said could not occur, or not a number
  deadline_missed,     // the nonlinear estimator was not ready in time
  window_exceeded,     // its first estimate was used too late
  filter_failed,       // the filter in use refused to go on
};

/// Why the linear mode is not safe now.
enum class Denial : std::uint8_t {
  none,
  input_outside_decision_bound,
  confidence_outside_region,
  handing_over,
  in_fail_safe,
};

[[nodiscard]] std::string_view to_string(Mode mode);
[[nodiscard]] std::string_view to_string(Failure failure);
[[nodiscard]] std::string_view explain(Denial denial);

/// One period's input and measurement.
struct Sample {
  /// When the measurement was taken.
  Instant time{};
  /// The input of the period that ends now.
  AnyVector input;
  /// Components that are NaN are missing.
  AnyVector measurement;
};

/// The result of one step of the dual-mode estimator, and its distance from its limits.
struct StepReport {
  Mode mode = Mode::linear;
  Failure failure = Failure::none;
  /// The outcome of the filter whose estimate is in use.
  Outcome outcome;
  /// How far the input is from the limits of the decision bound (InputBox::margin).
  double input_margin = 0;
  /// How deep the confidence set lies in the region of the way back, or how much narrower it is
  /// than it may be, whichever is less (the negative of Estimator::bound_in). NaN where the bound
  /// is not computed: outside of the modes nonlinear and to_linear.
  double region_margin = 0;
  /// Whether this is the first estimate after a hand-over to the nonlinear filter.
  bool is_first_nonlinear = false;

  /// Whether the error is bounded as the design says, if the design's assumptions hold.
  [[nodiscard]] bool is_guaranteed() const { return failure == Failure::none; }
};

/// The dual-mode estimator: the state machine of section 4.6, once in every period.
///
///     LINEAR ── input outside K ──► TO_NONLINEAR ── filter valid ──► NONLINEAR
///        ▲                               │                             ▲   │
///        │ conditions hold,              │ deadline missed             │   │ input in K,
///        │ filter valid                  ▼                             │   │ confidence set in R'∞
///        │                           FAIL_SAFE                         │   │
///        └── TO_LINEAR ────────── a condition fails ───────────────────┘   │
///                ▲                                                         │
///                └─────────────────────────────────────────────────────────┘
///
/// An input that the design says cannot occur leads to FAIL_SAFE from everywhere; only restart()
/// leads out. There the best estimate at hand is still given, without a guarantee.
class DualMode {
 public:
  struct Options {
    /// How many steps back a late measurement may be.
    std::size_t remembered = 16;
    /// The nonlinear filter is loaded by another thread, which calls load() in a loop.
    bool load_in_other_thread = false;
  };

  DualMode(const Handoff& handoff, Options options);

  /// One period. Nothing is allocated.
  [[nodiscard]] StepReport step(const Sample& sample);

  /// Says that the estimate of the latest step is used now. The first one after a hand-over ends
  /// the window that is compared with that of the design. Returns what step would report now.
  StepReport used(Instant when);

  /// Takes a measurement of `age` steps ago.
  [[nodiscard]] Outcome measure_late(std::uint64_t age, const AnyVector& measurement);

  /// Asks for the cheap linear mode. Granted if the latest sample says that it is safe; the way
  /// back begins with the next sample, and only if it still is. A grant lasts for one way back.
  [[nodiscard]] Denial request_linear();

  /// Begins anew from a belief, also out of fail-safe: in the linear mode if that is safe,
  /// otherwise in the nonlinear one. Refused while the filter is being loaded.
  [[nodiscard]] Refusal restart(const AnyBelief& belief);

  [[nodiscard]] const AnyBelief& estimate() const { return *estimate_; }
  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] Failure failure() const { return failure_; }
  [[nodiscard]] const WindowMonitor& window() const { return window_; }
  /// How often each mode was entered.
  [[nodiscard]] std::uint64_t entered(Mode mode) const {
    return entered_[static_cast<std::size_t>(mode)];
  }

  /// For the loading thread, see Loader::load.
  bool load() { return loader_.load(); }
  void stop_loading() { loader_.stop(); }

 private:
  void enter(Mode mode);
  void fail(Failure failure);
  [[nodiscard]] Refusal accept(const Sample& sample);
  void note_inside(Instant time);
  void note(const Outcome& outcome);
  const StepReport& report();
  [[nodiscard]] Outcome step_linear();
  [[nodiscard]] Outcome step_nonlinear();
  void step_in_linear();
  void step_in_fail_safe();
  void settle_handover();
  void settle_return();
  [[nodiscard]] Denial denial();
  void consider_return();

  HandoverTiming timing_;
  InputBox physical_;
  InputBox decision_;
  Region back_;
  Confidence confidence_;
  std::unique_ptr<Estimator> linear_;
  Loader loader_;
  WindowMonitor window_;
  Sample sample_;
  AnyBelief before_;
  Mode mode_ = Mode::nonlinear;
  Failure failure_ = Failure::none;
  const AnyBelief* estimate_;
  StepReport report_;
  bool has_sample_ = false;
  std::int64_t periods_since_inside_ = 0;
  std::int64_t safe_in_succession_ = 0;
  bool linear_is_requested_ = false;
  Denial latest_denial_ = Denial::confidence_outside_region;
  bool window_is_open_ = false;
  /// Whether the nonlinear filter is not being loaded, and follows the samples.
  bool nonlinear_runs_ = true;
  std::array<std::uint64_t, 5> entered_{};
};

}  // namespace takt::estimation
