#pragma once

#include <optional>

#include "takt/estimation/dual_mode.hpp"

namespace takt::estimation {

/// Plays inputs against the dual-mode estimator, with the true plant beside it, to try what the
/// guarantee promises: from a first estimate that the guard lets pass, the linear estimate errs by
/// at most ε until a hand-over has taken as long as it may.
class Rehearsal {
 public:
  /// One input for each period, one column each.
  using Inputs = Eigen::Ref<const AnyMatrix>;

  explicit Rehearsal(const Handoff& handoff);

  /// The largest error of a linear estimate, in units of ε; nothing if the guard refuses the linear
  /// mode for `first`. `state`: the true one, anywhere. Ends with the inputs, or at the deadline of
  /// the first hand-over: the nonlinear filter never comes, so that the last linear estimate is
  /// seen.
  [[nodiscard]] std::optional<double> play(const AnyBelief& first, const AnyVector& state,
                                           const Inputs& inputs);

 private:
  double error();

  Handoff handoff_;
  DualMode estimator_;
  Sample sample_;
  AnyVector state_;
  AnyVector next_;
  AnyVector difference_;
};

}  // namespace takt::estimation
