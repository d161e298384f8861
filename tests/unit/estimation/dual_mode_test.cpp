#include "takt/estimation/dual_mode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <thread>

#include "cubic.hpp"
#include "systems.hpp"

namespace takt::estimation {
namespace {

/// The real plant beside its estimator, one period after the other.
class Loop {
 public:
  explicit Loop(const Handoff& handoff, DualMode::Options options = {})
      : handoff_(handoff),
        plant_(handoff.plant),
        estimator_(handoff, options),
        state_(handoff.start.state) {}

  StepReport step(double input) {
    now_ += handoff_.timing.period;
    sample_.time = now_;
    sample_.input = AnyVector::Constant(1, input);
    if (std::isfinite(input)) plant_.step(state_, sample_.input, next_);
    if (std::isfinite(input)) state_ = next_;
    sample_.measurement = state_;
    return estimator_.step(sample_);
  }

  /// Makes steps with one input until the mode is reached; false if it is not.
  bool reach(Mode mode, double input, int most = 200) {
    for (int i = 0; i < most && estimator_.mode() != mode; ++i) step(input);
    return estimator_.mode() == mode;
  }

  [[nodiscard]] double error() const {
    return std::abs(estimator_.estimate().state(0) - state_(0));
  }
  [[nodiscard]] double state() const { return state_(0); }
  [[nodiscard]] Instant now() const { return now_; }
  DualMode& estimator() { return estimator_; }

 private:
  Handoff handoff_;
  Plant plant_;
  DualMode estimator_;
  AnyVector state_;
  AnyVector next_ = AnyVector::Zero(1);
  Sample sample_;
  Instant now_{};
};

TEST(EstimationFact, A57_AnInputOutsideKSwitchesWhateverTheEstimateIs) {
  for (const double state : {-0.3, -0.1, 0.0, 0.2, 0.4}) {
    Handoff handoff = Cubic{}.read();
    handoff.start.state(0) = state;
    Loop loop(handoff);
    ASSERT_EQ(loop.estimator().mode(), Mode::linear);
    EXPECT_EQ(loop.step(0.55).mode, Mode::linear);
    EXPECT_EQ(loop.step(-0.55).mode, Mode::linear);
    const StepReport report = loop.step(state > 0 ? -0.56 : 0.56);
    // The filter is loaded at once here, so that the hand-over ends in the step that began it.
    EXPECT_EQ(report.mode, Mode::nonlinear);
    EXPECT_TRUE(report.is_first_nonlinear);
    EXPECT_EQ(loop.estimator().entered(Mode::to_nonlinear), 1U);
    EXPECT_LT(report.input_margin, 0);
  }
}

TEST(EstimationFact, A57_TheWayBackNeedsBothConditions) {
  Loop loop(Cubic{}.read());
  ASSERT_TRUE(loop.reach(Mode::nonlinear, 1));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(loop.step(1).mode, Mode::nonlinear);
  ASSERT_GT(loop.state(), 0.6);  // outside R'∞
  // The input alone is not enough while the state is outside, ...
  EXPECT_EQ(loop.step(-0.5).mode, Mode::nonlinear);
  EXPECT_LT(loop.step(-0.5).region_margin, 0);
  // ... nor the state alone while the input is outside.
  for (int i = 0; i < 15; ++i) EXPECT_EQ(loop.step(-0.6).mode, Mode::nonlinear);
  ASSERT_LT(std::abs(loop.state()), 0.4);
  EXPECT_GT(loop.step(-0.6).region_margin, 0);
  EXPECT_EQ(loop.step(-0.5).mode, Mode::to_linear);
  EXPECT_EQ(loop.step(-0.5).mode, Mode::linear);
}

TEST(DualMode, AWayBackIsGivenUpWhenAConditionFails) {
  Loop loop(Cubic{}.read());
  ASSERT_TRUE(loop.reach(Mode::nonlinear, 0.6));
  ASSERT_TRUE(loop.reach(Mode::to_linear, 0));
  EXPECT_EQ(loop.step(0.6).mode, Mode::nonlinear);
  EXPECT_EQ(loop.estimator().entered(Mode::linear), 1U);  // at the start only
  EXPECT_EQ(loop.estimator().failure(), Failure::none);
  ASSERT_TRUE(loop.reach(Mode::linear, 0));
}

TEST(DualMode, HysteresisWaitsForSafeSamplesInSuccession) {
  Cubic cubic;
  cubic.timing_options = R"(, "return_after": 3)";
  Loop loop(cubic.read());
  ASSERT_TRUE(loop.reach(Mode::nonlinear, 0.6));
  EXPECT_EQ(loop.step(0).mode, Mode::nonlinear);
  EXPECT_EQ(loop.step(0).mode, Mode::nonlinear);
  EXPECT_EQ(loop.step(0.6).mode, Mode::nonlinear);
  EXPECT_EQ(loop.step(0).mode, Mode::nonlinear);
  EXPECT_EQ(loop.step(0).mode, Mode::nonlinear);
  EXPECT_EQ(loop.step(0).mode, Mode::to_linear);
}

TEST(DualMode, TheCheapModeIsGrantedWhereItIsSafeOnly) {
  Cubic cubic;
  cubic.timing_options = R"(, "return_when": "requested")";
  Loop loop(cubic.read());
  EXPECT_EQ(loop.estimator().request_linear(), Denial::none);  // it is in it
  ASSERT_TRUE(loop.reach(Mode::nonlinear, 1));
  for (int i = 0; i < 200; ++i) loop.step(1);
  EXPECT_EQ(loop.estimator().request_linear(), Denial::input_outside_decision_bound);
  loop.step(0);
  EXPECT_EQ(loop.estimator().request_linear(), Denial::confidence_outside_region);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(loop.step(0).mode, Mode::nonlinear);  // nobody asked
  EXPECT_EQ(loop.estimator().request_linear(), Denial::none);
  EXPECT_EQ(loop.step(0).mode, Mode::to_linear);
  EXPECT_EQ(loop.step(0).mode, Mode::linear);
  // A grant lasts for one way back.
  ASSERT_TRUE(loop.reach(Mode::nonlinear, 0.6));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(loop.step(0).mode, Mode::nonlinear);
  EXPECT_EQ(loop.step(1.5).mode, Mode::fail_safe);
  EXPECT_EQ(loop.estimator().request_linear(), Denial::in_fail_safe);
}

TEST(DualMode, InputsThatCannotOccurEndTheGuarantee) {
  for (const double input : {1.001, -2.0, missing, std::numeric_limits<double>::infinity()}) {
    for (const double before : {0.0, 0.8}) {
      Loop loop(Cubic{}.read());
      loop.step(before);
      const StepReport report = loop.step(input);
      EXPECT_EQ(report.mode, Mode::fail_safe);
      EXPECT_EQ(report.failure, Failure::input_not_physical);
      EXPECT_FALSE(report.is_guaranteed());
      // It stays there, and still estimates as well as it can: with the nonlinear filter.
      for (int i = 0; i < 50; ++i) EXPECT_EQ(loop.step(0.9).mode, Mode::fail_safe);
      EXPECT_LT(loop.error(), 0.01);
      const AnyBelief known{AnyVector::Constant(1, loop.state()), AnyMatrix::Constant(1, 1, 1e-4)};
      EXPECT_EQ(loop.estimator().restart(known), Refusal::none);
      EXPECT_EQ(loop.estimator().mode(), Mode::nonlinear);  // 0.62 is outside the region
      EXPECT_EQ(loop.estimator().failure(), Failure::none);
    }
  }
}

TEST(DualMode, BeginsInTheLinearModeOnlyWhereThatIsSafe) {
  Handoff handoff = Cubic{}.read();
  EXPECT_EQ(DualMode(handoff, {}).mode(), Mode::linear);
  handoff.start.covariance(0, 0) = 1;  // three standard deviations are 3
  EXPECT_EQ(DualMode(handoff, {}).mode(), Mode::nonlinear);
  handoff = Cubic{}.read();
  handoff.start.state(0) = 0.45;
  EXPECT_EQ(DualMode(handoff, {}).mode(), Mode::nonlinear);
}

/// The true state is anywhere in the confidence set, and regions leave room for a first error of so
/// much only.
TEST(DualMode, AConfidenceSetMayBeNoWiderThanTheRegionLeavesRoomFor) {
  Handoff handoff = Cubic{}.read();
  for (const double half : {0.0944, 0.0946}) {
    handoff.start.covariance(0, 0) = (half / 3) * (half / 3);
    EXPECT_EQ(DualMode(handoff, {}).mode(), half < 0.0945 ? Mode::linear : Mode::nonlinear);
  }
  for (const char* kind : {R"({"kind": "ekf"})", R"({"kind": "ukf", "kappa": 2})",
                           R"({"kind": "particle", "particles": 500})"}) {
    Cubic cubic;
    cubic.nonlinear = kind;
    cubic.half_widths = "[0.001]";  // below what the noise leaves
    Loop loop(cubic.read());
    ASSERT_EQ(loop.estimator().mode(), Mode::nonlinear) << kind;
    EXPECT_FALSE(loop.reach(Mode::linear, 0)) << kind;
    EXPECT_LT(loop.step(0).region_margin, 0) << kind;
    EXPECT_EQ(loop.estimator().request_linear(), Denial::confidence_outside_region) << kind;
  }
}

/// The filter is loaded as if by another thread, but by this one, at moments that the test chooses.
TEST(DualMode, TheLinearEstimateIsInUseUntilTheOtherFilterIsLoaded) {
  Loop loop(Cubic{}.read(), {.load_in_other_thread = true});
  for (int i = 0; i < 200; ++i) loop.step(0.5);  // to where the linear filter errs
  EXPECT_EQ(loop.step(0.9).mode, Mode::to_nonlinear);
  EXPECT_EQ(loop.estimator().request_linear(), Denial::handing_over);
  EXPECT_EQ(loop.step(0.9).mode, Mode::to_nonlinear);
  const double linear = loop.error();
  EXPECT_EQ(loop.estimator().restart(loop.estimator().estimate()), Refusal::handing_over);
  EXPECT_TRUE(loop.estimator().load());
  const StepReport report = loop.step(0.9);  // three periods after the last input in K
  EXPECT_EQ(report.mode, Mode::nonlinear);
  EXPECT_TRUE(report.is_first_nonlinear);
  EXPECT_GT(linear, 0.01);
  EXPECT_LT(loop.error(), linear);
  EXPECT_EQ(loop.estimator().used(loop.now()).mode, Mode::nonlinear);
  EXPECT_EQ(loop.estimator().window().latest(), std::chrono::milliseconds(60));
  EXPECT_EQ(loop.estimator().window().exceeded(), 0U);
}

TEST(DualMode, AMissedDeadlineLeadsToFailSafe) {
  Loop loop(Cubic{}.read(), {.load_in_other_thread = true});
  loop.step(0.3);
  for (int period = 1; period < 10; ++period) {
    EXPECT_EQ(loop.step(0.9).mode, Mode::to_nonlinear) << period;
  }
  const StepReport report = loop.step(0.9);  // k = 10
  EXPECT_EQ(report.mode, Mode::fail_safe);
  EXPECT_EQ(report.failure, Failure::deadline_missed);
  // Loaded too late, the filter's estimates are better than none.
  EXPECT_TRUE(loop.estimator().load());
  loop.step(0.9);
  EXPECT_EQ(loop.step(0.9).mode, Mode::fail_safe);
  EXPECT_LT(loop.error(), 0.01);
}

TEST(DualMode, AFirstEstimateThatIsUsedTooLateLeadsToFailSafe) {
  Loop loop(Cubic{}.read());
  loop.step(0.3);
  const Instant inside = loop.now();
  ASSERT_EQ(loop.step(0.9).mode, Mode::nonlinear);
  const StepReport report =
      loop.estimator().used(inside + std::chrono::milliseconds(200) + Duration{1});
  EXPECT_EQ(report.mode, Mode::fail_safe);
  EXPECT_EQ(report.failure, Failure::window_exceeded);
  EXPECT_EQ(loop.estimator().window().exceeded(), 1U);
  EXPECT_EQ(loop.estimator().window().longest(), std::chrono::milliseconds(200) + Duration{1});
}

/// A window that no loading exceeds.
Cubic patient() { return {.load_periods = "1000000", .window = "20000000000000"}; }

TEST(DualMode, ALoadingThreadTakesOverAndGivesBack) {
  Loop loop(patient().read(), {.load_in_other_thread = true});
  std::atomic<int> loaded = 0;
  std::thread loader([&] {
    while (loop.estimator().load()) {
      ++loaded;
      loaded.notify_all();
    }
  });
  int handovers = 0;
  int steps = 0;
  while (handovers < 20) {
    // The speed of the thread must not matter, and samples wait only up to a limit.
    steps = loop.estimator().mode() == Mode::to_nonlinear ? steps + 1 : 0;
    for (int seen = loaded; steps == 1000 && seen <= handovers; seen = loaded) loaded.wait(seen);
    const double input = loop.estimator().mode() == Mode::linear ? 0.9 : -0.1;
    handovers += loop.step(input).is_first_nonlinear ? 1 : 0;
    ASSERT_NE(loop.estimator().mode(), Mode::fail_safe);
    std::this_thread::yield();
  }
  loop.estimator().stop_loading();
  loader.join();
}

TEST(DualMode, AFilterThatMissedSamplesIsNotUsed) {
  Loop loop(patient().read(), {.load_in_other_thread = true});
  ASSERT_TRUE(loop.reach(Mode::to_nonlinear, 0.9));
  for (int i = 0; i < 5000; ++i) loop.step(0.9);  // more than can wait
  ASSERT_TRUE(loop.estimator().load());
  const StepReport report = loop.step(0.9);
  EXPECT_EQ(report.mode, Mode::fail_safe);
  EXPECT_EQ(report.failure, Failure::filter_failed);
  EXPECT_EQ(report.outcome.refusal, Refusal::samples_lost);
  // The next loading may succeed.
  loop.step(0.9);
  ASSERT_TRUE(loop.estimator().load());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(loop.step(0.9).mode, Mode::fail_safe);
  EXPECT_LT(loop.error(), 0.01);
}

TEST(DualMode, WithoutALoadingThreadTheDeadlineIsMissed) {
  for (const bool loads : {false, true}) {
    Loop loop(Cubic{}.read(), {.load_in_other_thread = true});
    if (loads) {
      ASSERT_TRUE(loop.reach(Mode::to_nonlinear, 0.9));
    }
    loop.estimator().stop_loading();
    EXPECT_FALSE(loop.estimator().load());
    ASSERT_TRUE(loop.reach(Mode::fail_safe, 0.9)) << loads;
    EXPECT_EQ(loop.estimator().failure(), Failure::deadline_missed);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(loop.step(0.9).mode, Mode::fail_safe);
  }
}

TEST(DualMode, ALinearFilterThatDivergesEndsTheGuarantee) {
  Handoff handoff = Cubic{.gain = "null"}.read();
  handoff.linear.state_matrix(0, 0) = 1e10;
  handoff.linear.output_matrix(0, 0) = 0;
  Loop loop(handoff);
  ASSERT_EQ(loop.estimator().mode(), Mode::linear);
  ASSERT_TRUE(loop.reach(Mode::fail_safe, 0.3));
  EXPECT_EQ(loop.estimator().failure(), Failure::filter_failed);
}

TEST(DualMode, MissingAndInfiniteMeasurementsAreNotUsed) {
  const Handoff handoff = Cubic{.gain = "null"}.read();
  DualMode estimator(handoff, {});
  Sample sample{.time = Instant{} + handoff.timing.period,
                .input = AnyVector::Zero(1),
                .measurement = AnyVector::Constant(1, missing)};
  StepReport report = estimator.step(sample);
  EXPECT_TRUE(report.outcome.ok());
  EXPECT_EQ(report.outcome.used, 0);
  sample.measurement(0) = std::numeric_limits<double>::infinity();
  report = estimator.step(sample);
  EXPECT_EQ(report.outcome.refusal, Refusal::not_finite);
  EXPECT_EQ(report.outcome.used, 0);
  EXPECT_EQ(report.mode, Mode::linear);
  // They may still come.
  EXPECT_EQ(estimator.measure_late(1, AnyVector::Constant(1, 0.01)).used, 1);
  EXPECT_GT(estimator.estimate().state(0), 0.001);
  EXPECT_EQ(estimator.measure_late(9, AnyVector::Zero(1)).refusal, Refusal::too_old);
  sample.measurement = AnyVector::Zero(2);
  EXPECT_EQ(estimator.step(sample).outcome.refusal, Refusal::wrong_size);
}

TEST(DualMode, EveryKindOfFilterHandsOver) {
  for (const char* kind : {R"({"kind": "ekf"})", R"({"kind": "ukf", "kappa": 2})",
                           R"({"kind": "particle", "particles": 500})"}) {
    Cubic cubic;
    cubic.nonlinear = kind;
    Loop loop(cubic.read());
    for (int i = 0; i < 50; ++i) loop.step(0.5);
    ASSERT_TRUE(loop.reach(Mode::nonlinear, 1)) << kind;
    for (int i = 0; i < 20; ++i) loop.step(1);
    EXPECT_LT(loop.error(), 0.02) << kind;
    EXPECT_TRUE(loop.reach(Mode::linear, -0.5)) << kind;
  }
}

/// The worked example with a period that makes many sequences affordable.
Cubic attacked(double kappa) {
  return {.kappa = kappa, .period = "50000000", .load_periods = "4", .window = "200000000"};
}

/// Adversarial inputs: the extremes of K, or bang-bang within it, until a random moment; from then
/// on the physical extreme in the direction of the value function's gradient. In this cooperative,
/// odd system the gradient by x has the sign of the error x̂ - x, wherever that is large.
class Adversary {
 public:
  Adversary(double kappa, double physical, std::uint64_t seed)
      : kappa_(kappa), physical_(physical), random_(seed) {}

  void begin() {
    attack_at_ = std::uniform_int_distribution<int>(0, 200)(random_);
    direction_ = random_() % 2 == 0 ? 1 : -1;
    changes_ = random_() % 4 == 0;  // bang-bang within K, rather than straight to the extreme
    step_ = 0;
  }

  double input(double error) {
    if (step_++ < attack_at_) {
      if (changes_ && random_() % 20 == 0) direction_ = -direction_;
      return direction_ * kappa_;
    }
    return (error == 0 ? direction_ : (error > 0 ? 1 : -1)) * physical_;
  }

 private:
  double kappa_;
  double physical_;
  std::mt19937_64 random_;
  int attack_at_ = 0;
  double direction_ = 1;
  bool changes_ = false;
  int step_ = 0;
};

/// How many of the sequences break the bound of the error before the nonlinear filter is in use.
/// The linear filter has no correction, as in the theory, and the nonlinear one answers as late as
/// it may.
int violations(const Handoff& handoff, double kappa, long sequences) {
  Plant plant = handoff.plant;
  DualMode estimator(handoff, {.remembered = 1, .load_in_other_thread = true});
  Adversary adversary(kappa, 1, 57);
  int broken = 0;
  Sample sample{.time = {}, .input = AnyVector::Zero(1), .measurement = AnyVector::Zero(1)};
  AnyVector state(1);
  AnyVector next(1);
  AnyVector error(1);
  for (long sequence = 0; sequence < sequences; ++sequence) {
    EXPECT_EQ(estimator.restart(handoff.start), Refusal::none);
    adversary.begin();
    state = handoff.start.state;
    double worst = 0;
    // Until the guard has handed over; without one, for long after the attack.
    for (int step = 0; step < 240 && estimator.mode() != Mode::nonlinear; ++step) {
      error = estimator.estimate().state - state;
      sample.time += handoff.timing.period;
      sample.input(0) = adversary.input(error(0));
      plant.step(state, sample.input, next);
      state = next;
      sample.measurement = state;
      // The linear estimate is in use up to the end of the period, whichever estimate comes then.
      error = handoff.linear.state_matrix * estimator.estimate().state +
              handoff.linear.input_matrix * sample.input - state;
      worst = std::max(worst, handoff.error_norm(error));
      // The last moment: the filter is loaded just before the step in which its deadline is.
      if (estimator.mode() == Mode::to_nonlinear &&
          estimator.window().since_inside(sample.time) >= handoff.timing.window) {
        EXPECT_TRUE(estimator.load());
      }
      const StepReport report = estimator.step(sample);
      EXPECT_NE(report.mode, Mode::fail_safe);
      worst = std::max(worst, handoff.error_norm(estimator.estimate().state - state));
    }
    broken += worst > handoff.epsilon ? 1 : 0;
  }
  return broken;
}

/// TAKT_SEQUENCES: how many adversarial sequences are tried; the acceptance wants a million.
long sequences() {
  const char* text = std::getenv("TAKT_SEQUENCES");
  return text == nullptr ? 5000 : std::max(1L, std::strtol(text, nullptr, 10));
}

TEST(Adversary, NeverBreaksTheBoundWithTheGuard) {
  EXPECT_EQ(violations(attacked(0.55).read(), 0.55, sequences()), 0);
}

/// The test can fail: with no guard, and with a guard that is a little too generous.
TEST(Adversary, BreaksTheBoundWithoutTheGuard) {
  EXPECT_GT(violations(attacked(1).read(), 1, 300), 100);
  EXPECT_GT(violations(attacked(0.5642).read(), 0.5642, 300), 10);  // κ without a buffer
}

}  // namespace
}  // namespace takt::estimation
