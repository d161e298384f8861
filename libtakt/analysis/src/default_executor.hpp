#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "executor_analysis.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

/// The default single-threaded executor, or an event source, which is one with a single privileged
/// callback (ros-llama S-3.3 to S-3.6).
class DefaultExecutor final : public ExecutorAnalysis {
 public:
  DefaultExecutor(const Round& round, ExecutorIndex executor);

  void begin_round() override;
  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] Terms explain(std::span<const CallbackIndex> chain, Duration response) override;
  [[nodiscard]] Wide least_response(CallbackIndex callback, const FluidPoint& point) override;
  [[nodiscard]] std::optional<Utilisation> divergence(CallbackIndex callback) const override;

 private:
  /// What is worth keeping of a callback from one evaluation to the next.
  struct Memory {
    /// The polling points for which the busy-window bound was last computed, and that bound.
    std::optional<std::int64_t> polling_points;
    Duration busy_window{};
    /// How far the round-robin analysis has found the latest start to be: it only grows from round
    /// to round.
    Duration start = epsilon;
    /// How often the bound has grown.
    int grown = 0;
    /// What proves that the round-robin analysis has no bound, if that is proved.
    std::optional<Utilisation> divergence;
  };

  /// pp(c), Def. 5: the most polling points in the response time of an instance.
  [[nodiscard]] std::int64_t polling_points(const Member& member) const;

  /// Theorem 2 for a chain that ends with member `last`, with `points` polling points in all.
  /// `start` is a lower bound of the latest start of that instance; it becomes that start, or what
  /// is just beyond the limit if it is beyond.
  [[nodiscard]] Duration round_robin(std::size_t last, std::int64_t points, Duration limit,
                                     Duration& start);

  /// What Theorem 2 cannot be below for a single callback, whatever the bounds of all become from
  /// now on; unbounded_time if it has no solution. Not less than its present bound.
  ///
  /// Let y be a bound that agrees with itself, S its latest start, and r the longest time in which
  /// ET(1) is supplied. Then S >= y - r, all other bounds are at least what they are now, and what
  /// Theorem 2 counts is supplied by y:
  ///
  ///   sbf(y) >= ET_i(η_i(S + y - ε)) + Σ ET_j(min(η_j(S + R_j - ε), η_i(y) + [j before i]))
  ///
  /// with no min for privileged callbacks. Put a line above sbf and lines below all ET(η(Δ)): the
  /// supply less the demand becomes a convex function of y. If it is negative at the present bound
  /// and its last slope is not positive, it stays negative, and there is no such y. Else it stays
  /// negative for at least as long as a line of that slope takes to rise to 0.
  ///
  /// The last slope is the share supplied less twice the callback's own share (it waits for what
  /// was activated during a response time before it and during its own) less, of each other one,
  /// the share at its own or at the victim's rate (one instance for each polling point), whichever
  /// is lower. See docs/analysis.md for what this test decides.
  [[nodiscard]] Duration least_round_robin(std::size_t index);

  /// The same for all bounds that grow together: see FluidPoint.
  [[nodiscard]] Wide least_round_robin(std::size_t index, const FluidPoint& point) const;

  [[nodiscard]] Terms explain_round_robin(std::size_t last, std::int64_t points);
  /// Lemma 4: the most instances of member `other` that run before the victim, member `last`.
  [[nodiscard]] std::int64_t most_instances(std::size_t other, std::size_t last,
                                            std::int64_t points) const;

  /// Theorem 3 for a single callback, and for longer chains that end with member `last`.
  [[nodiscard]] Duration busy_window(std::size_t index, std::int64_t points);
  [[nodiscard]] Duration busy_window_of_chain(std::size_t last, std::int64_t points);
  [[nodiscard]] BusyWindow window_of(std::size_t index, std::int64_t points) const;

  /// S-3.6: non-preemptive fixed priority among the privileged callbacks.
  [[nodiscard]] Duration privileged(std::size_t index) const;
  [[nodiscard]] LevelWindow privileged_window(std::size_t index) const;

  /// A callback that may run more often the later the victim starts.
  struct Pending {
    const Cost* cost;
    const DerivedCurve* activations;
    /// Lemma 3: pending in a window of length x are at most those activated in x + reach.
    Duration reach;
    std::int64_t most;
  };

  std::vector<Memory> memory_;
  std::vector<Pending> pending_;  // of the latest call of round_robin()
};

}  // namespace takt::analysis
