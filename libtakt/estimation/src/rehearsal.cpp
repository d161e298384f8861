#include "takt/estimation/rehearsal.hpp"

#include <algorithm>
#include <limits>

namespace takt::estimation {

Rehearsal::Rehearsal(const Handoff& handoff)
    : handoff_(handoff),
      estimator_(handoff, {.remembered = 1, .load_in_other_thread = true}),
      sample_{.time = {},
              .input = AnyVector::Zero(handoff.plant.inputs()),
              .measurement = AnyVector::Zero(handoff.plant.measurements())},
      state_(handoff.start.state),
      next_(state_),
      difference_(state_) {}

double Rehearsal::error() {
  difference_ = estimator_.estimate().state - state_;
  const double norm = handoff_.error_norm(difference_) / handoff_.epsilon;
  return norm >= 0 ? norm : std::numeric_limits<double>::infinity();
}

std::optional<double> Rehearsal::play(const AnyBelief& first, const AnyVector& state,
                                      const Inputs& inputs) {
  if (estimator_.restart(first) != Refusal::none || estimator_.mode() != Mode::linear) return {};
  state_ = state;
  double worst = error();
  for (Eigen::Index i = 0; i < inputs.cols() && estimator_.mode() != Mode::fail_safe; ++i) {
    sample_.time += handoff_.timing.period;
    sample_.input = inputs.col(i);
    handoff_.plant.step(state_, sample_.input, next_);
    state_.swap(next_);
    handoff_.plant.output(state_, sample_.input, sample_.measurement);
    static_cast<void>(estimator_.step(sample_));
    worst = std::max(worst, error());
  }
  if (estimator_.mode() == Mode::linear) return worst;
  // The hand-over ends here, because restart() refuses while the nonlinear filter is being loaded.
  static_cast<void>(estimator_.load());
  static_cast<void>(estimator_.step(sample_));
  return worst;
}

}  // namespace takt::estimation
