#pragma once

#include <cstddef>
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
/// Components of executors are solved one by one, upstream first. What a component's bounds depend
/// on are its own parameters and the curves that enter it, which are final by then. Within it all
/// bounds start at ε and only grow: every analysis yields no less for larger bounds of others, so
/// the rounds approach the least fixed point from below, in whatever order executors are visited.
/// A bound that passes the horizon is without bound from then on.
///
/// After a change, solve() solves again what is stale: the component that has changed, from its
/// start, and components that a changed curve enters. A fixed point found before is no start: where
/// bounds shrink, the least fixed point lies below it. All others keep bounds that depend on
/// nothing that has changed, so the result is that of a solution from scratch, to the bit.
class FixedPoint {
 public:
  /// All is stale at first.
  FixedPoint(const System& system, const Options& options);
  FixedPoint(const FixedPoint&) = delete;
  FixedPoint& operator=(const FixedPoint&) = delete;

  /// The system has changed: the executor's supply, its callbacks' costs or their order.
  void changed(ExecutorIndex executor);
  /// The system has changed: the curve given for the callback.
  void activation_changed(CallbackIndex callback);

  void solve();

  /// The executors that the last solve() had to analyse.
  [[nodiscard]] const std::vector<ExecutorIndex>& analysed() const { return analysed_; }
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
  void restart(const Component& component);
  void solve(const Component& component);
  /// Brings an executor's bounds into agreement with the curves that enter it. True if a curve that
  /// leaves it has changed.
  bool settle(ExecutorIndex executor);

  const System& system_;
  Options options_;
  Curves curves_;
  std::vector<Duration> response_;
  std::vector<std::string_view> by_;
  Round round_;
  std::vector<std::unique_ptr<ExecutorAnalysis>> executors_;
  /// Of each component.
  std::vector<bool> stale_;
  /// Of each executor: a curve that enters it has changed since it was settled.
  std::vector<bool> waiting_;
  std::vector<ExecutorIndex> analysed_;
};

}  // namespace takt::analysis
