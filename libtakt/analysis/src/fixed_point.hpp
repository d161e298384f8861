#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "executor_analysis.hpp"
#include "propagation.hpp"
#include "system.hpp"
#include "takt/analysis/analyze.hpp"

namespace takt::analysis {

/// The compositional fixed point (ros-llama S-3.1): bounds of all callbacks that agree with the
/// activation curves they cause.
///
/// All bounds start at ε and only grow: every analysis yields no less for larger bounds of others,
/// so the rounds approach the least fixed point from below, in whatever order executors are
/// visited. They are visited upstream first, and again only when a curve that enters them has
/// changed. A bound that passes the horizon is without bound from then on.
class FixedPoint {
 public:
  FixedPoint(const System& system, const Options& options);
  FixedPoint(const FixedPoint&) = delete;
  FixedPoint& operator=(const FixedPoint&) = delete;

  void solve();

  [[nodiscard]] Duration horizon() const { return options_.horizon; }
  [[nodiscard]] const Curves& curves() const { return curves_; }
  /// Of each callback; unbounded_time if there is none.
  [[nodiscard]] Duration response(CallbackIndex callback) const {
    return response_[callback.value()];
  }
  [[nodiscard]] std::string_view by(CallbackIndex callback) const { return by_[callback.value()]; }
  /// None: there is no analysis for executors of its kind, and no bounds for its callbacks.
  [[nodiscard]] ExecutorAnalysis* executor(ExecutorIndex index) const {
    return executors_[index.value()].get();
  }

 private:
  /// Brings an executor's bounds into agreement with the curves that enter it. True if a curve that
  /// leaves it has changed.
  bool settle(ExecutorIndex executor);

  const System& system_;
  Options options_;
  Curves curves_;
  std::vector<Duration> response_;
  std::vector<std::string_view> by_;
  std::vector<std::unique_ptr<ExecutorAnalysis>> executors_;
};

}  // namespace takt::analysis
