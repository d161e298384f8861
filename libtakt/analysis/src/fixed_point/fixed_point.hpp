#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "activation/propagation.hpp"
#include "demand/utilisation.hpp"
#include "executors/executor_analysis.hpp"
#include "exploration/explore.hpp"
#include "system/system.hpp"
#include "takt/analysis/analyze.hpp"

namespace takt::analysis {

/// The compositional fixed point (ros-llama S-3.1): bounds of all callbacks that agree with the
/// activation curves they cause.
///
/// Components of executors are solved one by one, upstream first. The bounds of a component depend
/// on its own parameters and on the curves that enter it, which are final by then. All bounds of it
/// start at ε and only grow: every analysis yields at least as much for larger bounds of others, so
/// the rounds approach the least fixed point from below, in whatever order executors are visited.
/// A bound that passes the horizon is without bound from then on, and so are bounds that are proved
/// to make each other grow for ever (growth.hpp). Where bounds grow slowly, that proof skips
/// rounds.
///
/// After a change, solve() solves the stale components again, from their start: the component that
/// has changed, and components that a changed curve enters. A fixed point found before is no start:
/// where bounds shrink, the least one lies below it. All other components keep their bounds, so the
/// result equals that of a solution from scratch.
class FixedPoint {
 public:
  /// At first every component is stale.
  FixedPoint(const System& system, const Options& options);
  FixedPoint(const FixedPoint&) = delete;
  FixedPoint& operator=(const FixedPoint&) = delete;

  /// The bound of a chain's stretch on one executor, see ExecutorAnalysis::bound().
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> stretch);

  /// The bound of a stretch along which messages take time, by the exploration of its executor.
  [[nodiscard]] LocalBound explored_bound(std::span<const CallbackIndex> stretch) const;

  /// The system has changed: the executor's supply, its callbacks' costs or their order.
  void changed(ExecutorIndex executor);
  /// The system has changed: the callback's activations of its own.
  void activation_changed(CallbackIndex callback);

  void solve();

  /// The executors that the last solve() had to analyse.
  [[nodiscard]] const std::vector<ExecutorIndex>& analysed() const { return analysed_; }
  [[nodiscard]] Duration horizon() const { return options_.horizon; }
  /// Whether bounds may hold only for the phases of timers in the model.
  [[nodiscard]] bool keeps_phases() const { return options_.method == Method::exact; }
  [[nodiscard]] const Curves& curves() const { return curves_; }
  /// The callback's bound; unbounded_time if there is none.
  [[nodiscard]] Duration response(CallbackIndex callback) const {
    return response_[callback.value()];
  }
  /// How that bound was found.
  [[nodiscard]] const Witness& witness(CallbackIndex callback) const {
    return witness_[callback.value()];
  }
  /// The utilisation of the executor when overload left a callback without bound; none if it was
  /// never overloaded.
  [[nodiscard]] const std::optional<Utilisation>& overload(ExecutorIndex executor) const {
    return overload_[executor.value()];
  }
  /// The proof of its analysis that the callback has no bound (ExecutorAnalysis::divergence).
  [[nodiscard]] const std::optional<Reason>& divergence(CallbackIndex callback) const {
    return divergence_[callback.value()];
  }
  /// The callbacks, this one included, that are proved to make each other's bounds grow for ever;
  /// null if there is no such proof.
  [[nodiscard]] const std::vector<CallbackIndex>* endless(CallbackIndex callback) const;
  /// Whether the bound has passed the horizon without a proof that there is none.
  [[nodiscard]] bool undecided(CallbackIndex callback) const {
    return undecided_[callback.value()];
  }
  /// Whether the effort for the callback's bound was spent, so that it is a coarser one, or none.
  [[nodiscard]] bool effort_spent(CallbackIndex callback) const {
    return effort_spent_[system_.component_of(callback)];
  }
  /// Lifts the limit, for work that searches nothing.
  void allow_any_effort() { effort_.allow(std::numeric_limits<std::int64_t>::max() / 2); }
  [[nodiscard]] std::int64_t effort_limit() const { return options_.effort; }
  /// Units of work since the last solve() began.
  [[nodiscard]] std::int64_t effort() const { return effort_.spent(); }
  /// The result of exploring the executor's schedules; null if they were not to be explored.
  [[nodiscard]] const Exploration* exploration(ExecutorIndex index) const {
    const auto& exploration = explorations_[index.value()];
    return exploration ? &*exploration : nullptr;
  }
  /// The analysis of the executor. Null if the executor cannot count on its supply, or if all
  /// effort was spent in vain: then its callbacks have no bounds.
  [[nodiscard]] ExecutorAnalysis* executor(ExecutorIndex index) const {
    return executors_[index.value()].get();
  }

 private:
  using Make = std::unique_ptr<ExecutorAnalysis>(const Round&, ExecutorIndex);
  void restart(const Component& component, Make* make);
  void solve(const Component& component);
  /// Solves with each executor's own analysis, or if that takes too much effort, coarsely.
  void solve_within_effort(std::size_t component);
  /// Lowers the component's bounds to those that follow from all of them, and repeats that with the
  /// lower ones.
  void narrow(const Component& component);
  [[nodiscard]] bool narrow(ExecutorIndex index);
  /// Lowers the component's bounds to those that an exploration of its executors' schedules finds,
  /// and the curves that follow from them.
  void explore(const Component& component);
  /// The part of the effort for this many callbacks.
  [[nodiscard]] std::int64_t part_of_effort(std::size_t callbacks) const;
  /// The same for searches of bounds; in small models it is less, so that they do not take long.
  [[nodiscard]] std::int64_t effort_for(std::size_t callbacks) const;
  /// Calls Curves::propagate() and counts its work.
  bool propagate(ExecutorIndex index);
  struct Settled {
    /// Whether a curve that leaves the executor has changed.
    bool leaving_changed = false;
    /// Whether it may take another time than before from those that it disturbs.
    bool takes_other_time = false;
  };
  /// Brings an executor's bounds into agreement with the curves that enter it.
  Settled settle(ExecutorIndex index);
  /// Returns whether a curve that leaves it has changed.
  bool settle_bounds(ExecutorIndex index);
  /// What an executor's demand in the eyes of those that it disturbs follows from.
  struct Disturbance {
    std::vector<Duration> responses;
    std::vector<curves::DerivedCurve> curves;
    bool operator==(const Disturbance&) const = default;
  };
  /// None if it disturbs no other.
  [[nodiscard]] std::optional<Disturbance> disturbance(const LocalExecutor& executor) const;
  /// Raises the callback's bound to `bound` if that is higher. Returns whether it was.
  bool raise(CallbackIndex callback, Duration bound);
  /// Finds out why the analysis of its executor leaves a callback without bound.
  void leave_unbounded(CallbackIndex callback);
  /// Raises the component's bounds to where their long-run rates must lead.
  void skip_rounds(const Component& component);

  const System& system_;
  Options options_;
  Curves curves_;
  std::vector<Duration> response_;
  std::vector<Witness> witness_;
  Effort effort_;
  Round round_;
  std::vector<std::unique_ptr<ExecutorAnalysis>> executors_;
  /// By executor.
  std::vector<std::optional<Exploration>> explorations_;
  /// By component.
  std::vector<bool> stale_;
  std::vector<bool> effort_spent_;
  /// By executor: a curve that enters it has changed since it was settled.
  std::vector<bool> waiting_;
  /// By executor, since curves were last derived there.
  std::vector<std::optional<Utilisation>> utilisation_;
  std::vector<ExecutorIndex> analysed_;
  /// Rounds so far of the component that is being solved.
  std::size_t rounds_ = 0;
  std::vector<std::vector<CallbackIndex>> endless_;
  /// By executor.
  std::vector<std::optional<Utilisation>> overload_;
  /// By callback.
  std::vector<std::optional<Reason>> divergence_;
  std::vector<bool> undecided_;
};

}  // namespace takt::analysis
