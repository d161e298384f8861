#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "activation/propagation.hpp"
#include "busy_window/busy_window.hpp"
#include "demand/long_run.hpp"
#include "demand/utilisation.hpp"
#include "effort.hpp"
#include "executors/terms.hpp"
#include "system/system.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

/// How a bound was found: which equation gave it, and the values for which that equation attains
/// it. An explanation counts the equation's terms for these values and searches for nothing.
struct Witness {
  enum class Equation {
    sum_of_callbacks,   ///< of a chain: the sum of the bounds of its callbacks
    round_robin,        ///< ros-llama Theorem 2, by its least start S
    executor_window,    ///< a busy window of the whole executor (ros-llama Theorem 3)
    level_window,       ///< a busy window of the callbacks that are at least as urgent
    executor_length,    ///< of a chain: the length of the executor's longest busy window
    level_length,       ///< of a chain: the length of its level's longest busy window
    deadline_chain,     ///< edf-executor Eqs. 9 to 11
    deadline_window,    ///< a busy window of all that is due before a deadline chain's instance
    tree,               ///< component-cps 4.7
    threads,            ///< work that occupies threads, from an activation to the latest start
    threads_group,      ///< the same from a quiet time of its group
    threads_window,     ///< the same from a quiet time of the executor, in its longest busy window
    threads_length,     ///< the length of that window, in which some thread is always busy
    chain_parts,        ///< the sum of the bounds of a chain's parts in one group each
    exploration,        ///< an exploration of all schedules (exploration/explore.hpp)
    slots,              ///< the open slots of a table
    narrowed_executor,  ///< a busy window of the executor, with what must have run before
    narrowed_level,     ///< the same of the callbacks that are at least as urgent
    tree_from_sender,   ///< an instance of a tree, from the start of its sender on
    from_activation,    ///< the work that waits at the activation or comes later
    executor_completion,  ///< of a chain: the completion of all of the executor's longest window
    level_completion,     ///< of a chain: the same of its level
    releases_executor,    ///< a busy window of the executor in which releases count as they come
    releases_level,       ///< the same of the callbacks that are at least as urgent
    releases_length,      ///< of a chain: the length of the longest such window of the executor
  };
  /// The name of the analysis, for users.
  std::string_view by;
  Equation equation = Equation::sum_of_callbacks;
  /// When the instance is activated, and when it starts at the latest, from the beginning of the
  /// window that the equation is about.
  Duration offset{};
  Duration start{};
  /// The number of the tree, of the deadline chain, of the instance in a row, of the way to count
  /// the supply that threads lack, or of the instance that has begun before a narrowed window.
  std::size_t index = 0;
};

/// A bound found by the analysis of one executor.
struct LocalBound {
  /// unbounded_time if there is none.
  Duration response = curves::unbounded_time;
  Witness witness{};

  /// Takes the other bound if it is lower.
  void take_lower(const LocalBound& other) {
    if (other.response < response) *this = other;
  }
};

/// Why a callback has no bound. `text` may contain {callback}, {executor}, {other}, {demand} and
/// {supply}.
struct Reason {
  std::string_view text;
  std::optional<CallbackIndex> other{};
  Utilisation utilisation{};
};

/// The state of the fixed point's current round, for the analyses of executors.
struct Round {
  const System& system;
  const Curves& curves;
  /// The bounds found so far, of all callbacks, and how they were found.
  const std::vector<Duration>& response;
  const std::vector<Witness>& witness;
  const Options& options;
  Effort& effort;
};

/// The analysis of one executor. Its bounds must not become smaller when curves, or bounds of other
/// callbacks, grow.
class ExecutorAnalysis {
 public:
  ExecutorAnalysis(const Round& round, ExecutorIndex executor);
  ExecutorAnalysis(const ExecutorAnalysis&) = delete;
  ExecutorAnalysis& operator=(const ExecutorAnalysis&) = delete;
  virtual ~ExecutorAnalysis() = default;

  /// Called when curves that enter the executor have changed.
  virtual void begin_round();

  /// A lower bound of the callback's bound under the current curves, whatever the other bounds
  /// become. The search for the bound may begin there.
  [[nodiscard]] virtual Duration least_bound(CallbackIndex) const { return epsilon; }

  /// The bound of the callback under the current curves and bounds.
  [[nodiscard]] virtual LocalBound bound(CallbackIndex callback) = 0;

  /// The bound of a chain of at least two callbacks on this executor, each of which activates the
  /// next, from the activation of its first to the completion of its last.
  [[nodiscard]] virtual LocalBound bound(std::span<const CallbackIndex> chain) {
    return sum_of_callbacks(chain);
  }

  /// Bounds of a callback and of such a chain, by all bounds found so far: none of them need follow
  /// from the others, so this is not part of the fixed point (Method::tight).
  [[nodiscard]] virtual LocalBound narrowed(CallbackIndex) { return {}; }
  [[nodiscard]] virtual LocalBound narrowed(std::span<const CallbackIndex>) { return {}; }

  /// The simplest bound of such a chain.
  [[nodiscard]] LocalBound sum_of_callbacks(std::span<const CallbackIndex> chain) const;

  /// The terms of the bound of a callback, or of such a chain, under the final curves and bounds.
  [[nodiscard]] Terms explain(std::span<const CallbackIndex> chain, const LocalBound& bound) const;

  /// The value, at the point, of the callback's equation for the long run (see LongRunPoint); 0 if
  /// nothing is known. In units of 2^-16 ns.
  [[nodiscard]] virtual Int128 long_run_response(CallbackIndex callback,
                                                 const LongRunPoint& point) = 0;
  /// The demand that the executor's equations count for activations of the callback along that
  /// curve.
  [[nodiscard]] virtual Line long_run_demand(CallbackIndex callback,
                                             const curves::DerivedCurve& activations) const {
    return demand_line(activations, member(callback).task->cost);
  }
  [[nodiscard]] Int128 long_run_cost_of(CallbackIndex callback) const {
    return long_run_cost(member(callback).task->cost);
  }

  /// Why the analysis does not apply to the callback at all, if it does not.
  [[nodiscard]] virtual std::optional<Reason> inapplicable(CallbackIndex) const { return {}; }
  /// The proof that a callback has no bound although its executor is not overloaded, if the
  /// analysis has found one.
  [[nodiscard]] virtual std::optional<Reason> divergence(CallbackIndex) const { return {}; }
  /// Whether divergence() decides every case in which no trigger set couples the callbacks of a
  /// component that consists of this executor alone.
  [[nodiscard]] virtual bool decides_divergence() const { return false; }

 protected:
  /// A callback of the executor; members are in the order of their ranks.
  struct Member {
    CallbackIndex callback;
    const Task* task = nullptr;
    const curves::DerivedCurve* activations = nullptr;
    const curves::DerivedCurve* busy_activations = nullptr;
  };
  /// The kind of a busy window: η^b counts in windows of the whole executor, η in all others.
  enum class Window { executor, level };

  [[nodiscard]] const Member& member(CallbackIndex callback) const {
    return members_[round_.system[callback].rank];
  }
  [[nodiscard]] Duration response(const Member& member) const {
    return round_.response[member.callback.value()];
  }
  [[nodiscard]] Duration horizon() const { return round_.options.horizon; }
  [[nodiscard]] Limits limits() const { return {horizon(), round_.effort}; }
  /// Lemma 3: the most instances that are pending in a window of length x, which begins at most ε
  /// before the response that it is part of ends.
  [[nodiscard]] std::int64_t pending(const Member& member, Duration x) const {
    if (response(member) == curves::unbounded_time) return curves::unbounded_count;
    return member.activations->count(curves::saturating_add(x, response(member)) - epsilon);
  }
  [[nodiscard]] static Interferer interferer(const Member& member, Window window) {
    return {member.callback, &member.task->cost,
            window == Window::executor ? member.busy_activations : member.activations,
            std::nullopt};
  }

  /// The longest time that an instance of `other`, less urgent than `victim` and selected before
  /// the victim is activated, delays it.
  ///
  /// On a dedicated processor it has run for at least ε by then, as S-3.6 has it. On a reservation
  /// that is exhausted it may have been selected without having run at all; and an instance that
  /// publishes as it starts may activate the victim at that very instant, if edges lead to it. Then
  /// all of its cost is left.
  [[nodiscard]] Duration blocking(const Member& other, const Member& victim) const;
  /// The longest time that an instance runs without a decision.
  [[nodiscard]] Duration longest_piece(const Member& member) const;

  /// By rank: the least work of a window that is done when the callback is activated in it. It is
  /// the work of the instances that had to run for this activation.
  [[nodiscard]] std::vector<Duration> lags(
      const std::function<Curves::Runs(CallbackIndex)>& runs) const;
  [[nodiscard]] std::vector<Duration> lags() const {
    return lags([](CallbackIndex) { return Curves::Runs::always; });
  }

  /// The longest busy window of the whole executor: no instance waits or runs for longer without a
  /// quiet time of the executor between.
  [[nodiscard]] Duration busy_window_length();
  [[nodiscard]] BusyWindow window_of_all() const;
  /// How many units of Effort it takes to count the activations of all members once. For most
  /// models that is the number of members.
  [[nodiscard]] std::size_t weight() const { return weight_; }
  /// Whether the callbacks of a window need less than the supply in the long run, so that it ends.
  [[nodiscard]] bool ends(const BusyWindow& window) const;

  /// The bound that an instance with the longest response in such a window witnesses.
  [[nodiscard]] static LocalBound witnessed(std::string_view by, Witness::Equation equation,
                                            const LongestResponse& longest) {
    return {longest.response, {by, equation, longest.offset, longest.start}};
  }

  /// The completion of an instance with that marginal cost that starts at `start` of a window from
  /// a quiet time (Lemma 17).
  [[nodiscard]] Duration completion(Duration start, Duration marginal) const {
    const curves::SupplyBound& supply = executor_.supply_from_quiet;
    return supply.time_for(supply.supply(start) - epsilon + marginal);
  }
  /// explain() for every equation except sum_of_callbacks and exploration.
  [[nodiscard]] virtual Terms terms(std::span<const CallbackIndex> chain,
                                    const LocalBound& bound) const = 0;
  /// The terms of the witness's instance, of whose response `elapsed` lies before the activation.
  /// `own`: callbacks with one instance each that belongs to the bounded chain.
  [[nodiscard]] Terms terms_of_instance(const BusyWindow& window, const Witness& witness,
                                        Duration elapsed,
                                        std::span<const CallbackIndex> own = {}) const;
  /// The terms of a window's length, which bounds the response of a chain that ends with `victim`.
  [[nodiscard]] Terms terms_of_length(const BusyWindow& window, Duration length,
                                      CallbackIndex victim, Duration rounding = epsilon) const;

  /// long_run_response() for bounds that are found in such busy windows.
  [[nodiscard]] Int128 long_run_response(const BusyWindow& window, Window which,
                                         const LongRunPoint& point) const;

  const Round round_;
  const LocalExecutor& executor_;
  std::vector<Member> members_;

 private:
  std::optional<Duration> busy_window_length_;
  std::size_t weight_ = 0;
  /// The long-run shares by rank, once they are asked for.
  mutable std::vector<Int128> shares_;
};

/// The analysis of an executor, by its kind; null if the executor cannot count on its supply, or
/// has no description.
[[nodiscard]] std::unique_ptr<ExecutorAnalysis> make_analysis(const Round& round,
                                                              ExecutorIndex executor);

/// Makes the analysis of that kind of executor. Each is in the kind's own file.
#define TAKT_EXECUTOR_KIND(kind, traits, rules)                                   \
  [[nodiscard]] std::unique_ptr<ExecutorAnalysis> make_##kind(const Round& round, \
                                                              ExecutorIndex executor);
#include "takt/base/executor_kinds.def"
#undef TAKT_EXECUTOR_KIND

}  // namespace takt::analysis
