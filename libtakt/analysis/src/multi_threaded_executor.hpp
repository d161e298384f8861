#pragma once

#include <optional>
#include <span>

#include "executor_analysis.hpp"

namespace takt::analysis {

/// A safe, coarse bound for the multi-threaded executor: m threads share the callbacks, and
/// callbacks of one group exclude each other.
///
/// Model: each thread has the executor's supply for itself. While an instance waits, either an
/// instance of its own group runs, or all m threads run others; in which order instances are taken
/// is left open. So it starts no later than the least S with
///
///   S >= ε + (work of its group, without itself) + floor((work of all others) / m)
///
/// where work is what may be pending in a window of length S (ros-llama Lemma 3). On a dedicated
/// processor work is execution time. On a reservation each instance counts as long as its thread
/// may take for it from when it is free, sbf^-1(ET(1)): instances on different threads do not share
/// one blackout.
class MultiThreadedExecutor final : public ExecutorAnalysis {
 public:
  using ExecutorAnalysis::ExecutorAnalysis;

  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override {
    return sum_of_callbacks(chain);
  }
  [[nodiscard]] Terms explain(std::span<const CallbackIndex> chain, Duration response) override;
  [[nodiscard]] Wide least_response(CallbackIndex callback, const FluidPoint& point) override;
  [[nodiscard]] Line long_run_demand(CallbackIndex callback,
                                     const DerivedCurve& activations) const override;
  [[nodiscard]] std::optional<Utilisation> divergence(CallbackIndex callback) const override;

 private:
  /// S, unbounded_time if there is none. None is looked for if what may go before the instance
  /// needs a whole thread in the long run.
  [[nodiscard]] Duration latest_start(const Member& self) const;
  /// The share of a thread that the group of the callback and its part of all others need.
  [[nodiscard]] Wide share_before(const Member& self) const;
  [[nodiscard]] static bool exclude(const Member& a, const Member& b) {
    return a.task->group && a.task->group == b.task->group;
  }
  /// The longest time that n instances occupy threads.
  [[nodiscard]] Duration occupied(const Member& member, std::int64_t n) const;
};

}  // namespace takt::analysis
