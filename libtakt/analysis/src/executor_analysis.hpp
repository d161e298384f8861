#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "busy_window.hpp"
#include "fluid.hpp"
#include "propagation.hpp"
#include "system.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/curves/saturating.hpp"
#include "terms.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

/// A bound found by the analysis of one executor, and which analysis gave it.
struct LocalBound {
  /// unbounded_time: there is none.
  Duration response = curves::unbounded_time;
  std::string_view by;
};

/// What an executor's analysis reads of the fixed point's current round.
struct Round {
  const System& system;
  const Curves& curves;
  /// The bounds of all callbacks so far.
  const std::vector<Duration>& response;
  const Options& options;
};

/// The analysis of one executor. Its bounds must not become smaller when curves, or bounds of other
/// callbacks, grow.
class ExecutorAnalysis {
 public:
  ExecutorAnalysis(const Round& round, ExecutorIndex executor);
  ExecutorAnalysis(const ExecutorAnalysis&) = delete;
  ExecutorAnalysis& operator=(const ExecutorAnalysis&) = delete;
  virtual ~ExecutorAnalysis() = default;

  /// Curves that enter the executor have changed.
  virtual void begin_round();

  /// What the callback's bound cannot be below under the current curves, whatever bounds become:
  /// where the search for it may begin.
  [[nodiscard]] virtual Duration least_bound(CallbackIndex) const { return epsilon; }

  /// The bound of the callback under the current curves and bounds.
  [[nodiscard]] virtual LocalBound bound(CallbackIndex callback) = 0;

  /// The bound of a chain of at least two callbacks on this executor, each of which activates the
  /// next, from the activation of its first to the completion of its last.
  [[nodiscard]] virtual LocalBound bound(std::span<const CallbackIndex> chain) = 0;

  /// What the bound `response` of a callback, or of such a chain, is made of, under the final
  /// curves and bounds.
  [[nodiscard]] virtual Terms explain(std::span<const CallbackIndex> chain, Duration response) = 0;

  /// What the equation of the callback's bound tends to, see FluidPoint: its value at the point. 0
  /// if nothing is known. In units of 2^-16 ns.
  [[nodiscard]] virtual Wide least_response(CallbackIndex callback, const FluidPoint& point) = 0;
  /// What the executor's equations count for each activation of the callback, along that curve of
  /// activations.
  [[nodiscard]] virtual Line long_run_demand(CallbackIndex callback,
                                             const DerivedCurve& activations) const;
  [[nodiscard]] Wide long_run_cost_of(CallbackIndex callback) const;

  /// What the callback would need in the long run, if that has been found to be more than it gets:
  /// the proof that it has no bound although its executor is not overloaded.
  [[nodiscard]] virtual std::optional<Utilisation> divergence(CallbackIndex) const { return {}; }

 protected:
  /// A callback of the executor; members are in the order of their ranks.
  struct Member {
    CallbackIndex callback;
    const Task* task = nullptr;
    const DerivedCurve* activations = nullptr;
    const DerivedCurve* busy_activations = nullptr;
  };

  [[nodiscard]] Duration response(const Member& member) const {
    return round_.response[member.callback.value()];
  }
  [[nodiscard]] Duration horizon() const { return round_.options.horizon; }
  /// Lemma 3: the most instances that are pending in a window of length x, which begins at most ε
  /// before the response that it is part of ends.
  [[nodiscard]] std::int64_t pending(const Member& member, Duration x) const {
    if (response(member) == curves::unbounded_time) return curves::unbounded_count;
    return member.activations->count(curves::saturating_add(x, response(member)) - epsilon);
  }
  [[nodiscard]] Interferer busy_interferer(const Member& member) const {
    return {&member.task->cost, member.busy_activations, std::nullopt};
  }

  /// The longest time that an instance of `other` which is less urgent than `victim` delays it,
  /// once selected before the victim is activated.
  ///
  /// On a dedicated processor it has then run for ε at least, as S-3.6 has it. On a reservation
  /// that is exhausted it may have been selected without having run at all; and an instance that
  /// publishes as it starts may activate the victim at that very instant. Then all of its cost is
  /// left.
  [[nodiscard]] Duration blocking(const Member& other, const Member& victim) const;

  /// No instance waits or runs for longer than this without a quiet time of the executor between.
  [[nodiscard]] Duration busy_window_length();

  /// The sum of the bounds of its callbacks, each activated when the one before completes at the
  /// latest.
  [[nodiscard]] LocalBound sum_of_callbacks(std::span<const CallbackIndex> chain) const;

  /// Busy windows of a level, and whose instance blocks longest.
  struct LevelWindow {
    BusyWindow window;
    std::optional<CallbackIndex> blocker;
  };

  /// That equation for bounds that are found in such busy windows.
  [[nodiscard]] Wide least_response(const BusyWindow& window, const FluidPoint& point) const;

  /// The member with that cost.
  [[nodiscard]] CallbackIndex callback_of(const Cost* cost) const;
  /// Of the instance activated at `offset` of a busy window, from `elapsed` on.
  [[nodiscard]] Terms explain_instance(BusyWindow& window, std::optional<CallbackIndex> blocker,
                                       Duration offset, Duration elapsed) const;
  /// Of an instance with the longest response in busy windows of that length.
  [[nodiscard]] Terms explain_longest(BusyWindow& window, std::optional<CallbackIndex> blocker,
                                      Duration length, Duration longest) const;
  /// Of the length of a busy window, which bounds the response of a chain that ends with `victim`.
  [[nodiscard]] Terms explain_length(const BusyWindow& window, std::optional<CallbackIndex> blocker,
                                     CallbackIndex victim) const;
  /// Of the sum of the bounds of its callbacks.
  [[nodiscard]] Terms explain_each(std::span<const CallbackIndex> chain);

  const Round round_;
  const LocalExecutor& executor_;
  std::vector<Member> members_;

 private:
  std::optional<Duration> busy_window_length_;
};

/// The analysis for executors of that kind; none if its supply is not known.
[[nodiscard]] std::unique_ptr<ExecutorAnalysis> make_analysis(const Round& round,
                                                              ExecutorIndex executor);

}  // namespace takt::analysis
