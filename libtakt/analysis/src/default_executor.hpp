#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "executor_analysis.hpp"
#include "offset_sweep.hpp"
#include "round_robin.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

/// The default single-threaded executor, or an event source, which is one with a single privileged
/// callback (ros-llama S-3.3 to S-3.6).
class DefaultExecutor final : public ExecutorAnalysis {
 public:
  DefaultExecutor(const Round& round, ExecutorIndex executor);

  void begin_round() override;
  [[nodiscard]] Duration least_bound(CallbackIndex callback) const override;
  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] Terms explain(std::span<const CallbackIndex> chain, Duration response) override;
  [[nodiscard]] Wide least_response(CallbackIndex callback, const FluidPoint& point) override;
  [[nodiscard]] std::optional<Utilisation> divergence(CallbackIndex callback) const override;

 private:
  /// What is worth keeping of a callback from one evaluation to the next.
  struct Memory {
    std::optional<RoundRobin> round_robin{};
    /// The longest response found in its busy windows with so many polling points, and whether no
    /// other is longer.
    std::int64_t polling_points = -1;
    Duration busy_window = epsilon;
    bool longest = false;
    /// How often the round-robin bound has grown.
    int grown = 0;
    /// What proves that the round-robin analysis has no bound, if that is proved.
    std::optional<Utilisation> divergence{};
  };

  /// The bound of a polled callback in agreement with itself.
  [[nodiscard]] LocalBound polled(std::size_t index);
  /// The least bound in agreement with Theorem 2 that is not below `present`, or what it is not
  /// below if that is beyond the limit.
  [[nodiscard]] Duration rise(std::size_t index, Duration present, Duration limit);

  /// pp(c), Def. 5: the most polling points in the response time of an instance.
  [[nodiscard]] std::int64_t polling_points(const Member& member) const;

  /// Theorem 2 for an instance of a callback, or of a chain that ends with it.
  [[nodiscard]] RoundRobin round_robin(std::size_t index,
                                       std::span<RoundRobin::Other> others) const;
  /// Adds those that delay a member.
  void add_others(std::size_t index, std::vector<RoundRobin::Other>& others) const;
  /// What Theorem 2 cannot be below for a single callback, whatever the bounds of all become from
  /// now on; unbounded_time if it has no solution. Not less than its `present` bound.
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
  [[nodiscard]] Duration least_round_robin(std::size_t index, Duration present);

  /// The same for all bounds that grow together: see FluidPoint.
  [[nodiscard]] Wide least_round_robin(std::size_t index, const FluidPoint& point) const;

  [[nodiscard]] Terms explain_round_robin(std::size_t last, std::int64_t points);
  /// Lemma 4: how many more instances of member `other` than polling points run before the victim,
  /// member `last`, at most.
  [[nodiscard]] std::int64_t extra_instances(std::size_t other, std::size_t last) const;

  /// Theorem 3 for a single callback, and for longer chains that end with member `last`.
  /// Of a single callback as much as is found by the time that it is `enough`.
  [[nodiscard]] Duration busy_window(std::size_t index, std::int64_t points, Duration enough);
  [[nodiscard]] Duration busy_window_of_chain(std::size_t last, std::int64_t points);
  void begin_sweep(std::size_t index, std::int64_t points);
  /// Member `other`, which delays member `last`.
  [[nodiscard]] Interferer limited_interferer(std::size_t other, std::size_t last,
                                              std::int64_t points) const;
  [[nodiscard]] BusyWindow window_of(std::size_t index, std::int64_t points) const;

  /// S-3.6: non-preemptive fixed priority among the privileged callbacks.
  [[nodiscard]] Duration privileged(std::size_t index) const;
  [[nodiscard]] LevelWindow privileged_window(std::size_t index) const;

  std::vector<Memory> memory_;
  /// In which one instance of everything runs.
  Duration all_once_ = epsilon;
  /// Of the round-robin searches of all members.
  std::vector<RoundRobin::Other> others_;
  /// Through the busy windows of one member, which is not finished yet.
  OffsetSweep sweep_;
  std::optional<std::size_t> swept_;
  std::int64_t swept_points_ = 0;
};

}  // namespace takt::analysis
