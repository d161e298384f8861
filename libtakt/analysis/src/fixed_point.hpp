#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "executor_analysis.hpp"
#include "propagation.hpp"
#include "system.hpp"
#include "takt/analysis/analyze.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

/// The compositional fixed point (ros-llama S-3.1): bounds of all callbacks that agree with the
/// activation curves they cause.
///
/// Components of executors are solved one by one, upstream first. What a component's bounds depend
/// on are its own parameters and the curves that enter it, which are final by then. Within it all
/// bounds start at ε and only grow: every analysis yields no less for larger bounds of others, so
/// the rounds approach the least fixed point from below, in whatever order executors are visited.
/// A bound that passes the horizon is without bound from then on, and so are bounds that are proved
/// to make each other grow for ever (growth.hpp); where they only grow slowly, that skips rounds.
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
  /// What the executor needed when that left a callback without bound; none if it never was more
  /// than it gets.
  [[nodiscard]] const std::optional<Utilisation>& overload(ExecutorIndex executor) const {
    return overload_[executor.value()];
  }
  /// What the callback alone needed, likewise (ExecutorAnalysis::divergence).
  [[nodiscard]] const std::optional<Utilisation>& divergence(CallbackIndex callback) const {
    return divergence_[callback.value()];
  }
  /// The callbacks that make each other's bounds grow for ever, with this one; null: it has not
  /// been found to be one of such.
  [[nodiscard]] const std::vector<CallbackIndex>* endless(CallbackIndex callback) const;
  /// It has passed the horizon without a proof that it has no bound.
  [[nodiscard]] bool undecided(CallbackIndex callback) const {
    return undecided_[callback.value()];
  }
  /// None: there is no analysis for executors of its kind, and no bounds for its callbacks.
  [[nodiscard]] ExecutorAnalysis* executor(ExecutorIndex index) const {
    return executors_[index.value()].get();
  }

 private:
  void restart(const Component& component);
  void solve(const Component& component);
  /// Brings an executor's bounds into agreement with the curves that enter it. True if a curve that
  /// leaves it has changed.
  bool settle(ExecutorIndex index);
  /// The callback's bound is not below this. True if that is news.
  bool raise(CallbackIndex callback, Duration bound);
  /// The analysis of its executor leaves a callback without bound: finds out why.
  void leave_unbounded(CallbackIndex callback);
  /// To where the component's bounds must get by their long-run rates.
  void skip_rounds(const Component& component);

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
  /// Rounds that the component in work has taken.
  std::size_t rounds_ = 0;
  std::vector<std::vector<CallbackIndex>> endless_;
  /// Of each executor.
  std::vector<std::optional<Utilisation>> overload_;
  /// Of each callback.
  std::vector<std::optional<Utilisation>> divergence_;
  std::vector<bool> undecided_;
};

}  // namespace takt::analysis
