// The multi-threaded executor: m threads share the callbacks, and callbacks of one group exclude
// each other.

#include <algorithm>
#include <utility>

#include "executors/executor_analysis.hpp"
#include "takt/curves/least_solution.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;
using curves::unbounded_time;
using Kind = Terms::Kind;

namespace {

/// A safe, coarse bound, in whichever order instances are taken. Each thread has the executor's
/// supply for itself. While an instance waits, either an instance of its own group runs, or all m
/// threads run others. So it starts no later than the least S with
///
///   S >= ε + (work of its group, without itself) + floor((work of all others) / m)
///
/// where work is what may be pending in a window of length S (ros-llama Lemma 3). On a dedicated
/// processor work is execution time. On a reservation each instance counts as long as its thread
/// may take for it from when it is free, sbf^-1(ET(1)): instances on different threads do not share
/// one blackout.
class MultiThreaded final : public ExecutorAnalysis {
 public:
  using ExecutorAnalysis::ExecutorAnalysis;

  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  using ExecutorAnalysis::bound;
  [[nodiscard]] Int128 long_run_response(CallbackIndex callback,
                                         const LongRunPoint& point) override;
  [[nodiscard]] Line long_run_demand(CallbackIndex callback,
                                     const curves::DerivedCurve& activations) const override;
  [[nodiscard]] std::optional<Reason> divergence(CallbackIndex callback) const override;

 private:
  [[nodiscard]] Terms terms(std::span<const CallbackIndex> chain,
                            const LocalBound& bound) const override;

  /// S, unbounded_time if there is none.
  [[nodiscard]] Duration latest_start(const Member& self) const;
  /// The share of a thread that the callback's group and its part of all others need.
  [[nodiscard]] Int128 share_before(const Member& self) const;
  [[nodiscard]] static bool exclude(const Member& a, const Member& b) {
    return a.task->group && a.task->group == b.task->group;
  }
  /// The longest time that n instances occupy threads.
  [[nodiscard]] Duration occupied(const Member& member, std::int64_t n) const;
};

/// That of a thread that never lacks supply.
Int128 whole_thread() { return supplied_share(curves::SupplyBound::dedicated()); }

Duration MultiThreaded::occupied(const Member& member, std::int64_t n) const {
  if (executor_.supply.blackout() == Duration{0}) return member.task->cost(n);
  return saturating_multiply(executor_.supply.time_for(member.task->cost(1)), n);
}

Duration MultiThreaded::latest_start(const Member& self) const {
  // There is no S if what may run before the instance needs a whole thread in the long run.
  if (share_before(self) >= whole_thread()) return unbounded_time;
  const auto demand = [&](Duration x) {
    round_.effort.spend(2 * members_.size());  // each is counted, and compared with the instance
    // Instances of one callback start in order, also if they may run side by side.
    Duration exclusive = occupied(self, std::max<std::int64_t>(0, pending(self, x) - 1));
    Duration shared{0};
    for (const Member& other : members_) {
      if (&other == &self) continue;
      auto& sum = exclude(self, other) ? exclusive : shared;
      sum = saturating_add(sum, occupied(other, pending(other, x)));
    }
    if (shared == unbounded_time) return shared;
    return saturating_add(saturating_add(epsilon, exclusive),
                          shared / executor_.description.threads);
  };
  return curves::least_solution(curves::SupplyBound::dedicated(), epsilon, horizon(), demand);
}

LocalBound MultiThreaded::bound(CallbackIndex callback) {
  const Member& self = member(callback);
  if (self.activations->unbounded()) return {};
  const Duration start = latest_start(self);
  if (start == unbounded_time) return {};
  return {
      .response = saturating_add(start - epsilon, occupied(self, 1)),
      .witness = {.by = "multi_threaded", .equation = Witness::Equation::threads, .start = start}};
}

Terms MultiThreaded::terms(std::span<const CallbackIndex> chain, const LocalBound& bound) const {
  Terms terms(round_.system);
  const Member& self = member(chain.front());
  const Duration start = bound.witness.start;
  const auto add = [&](Kind kind, const Member& each, std::int64_t instances) {
    const Duration all = occupied(each, instances);
    if (executor_.supply.blackout() == Duration{0}) {
      terms.add_cost(kind, each.callback, each.task->cost, 0, instances);
      return all;
    }
    // Each instance waits for the supply of its thread.
    terms.add_longest(kind, each.callback, each.task->cost, instances);
    terms.add(Kind::supply, all - each.task->cost(1) * instances, each.callback, instances);
    return all;
  };
  add(Kind::execution, self, 1);
  add(Kind::earlier, self, std::max<std::int64_t>(0, pending(self, start) - 1));
  Duration shared{0};
  for (const Member& other : members_) {
    if (&other == &self) continue;
    const Duration time = add(Kind::interference, other, pending(other, start));
    if (!exclude(self, other)) shared += time;
  }
  terms.add(Kind::parallel, shared / executor_.description.threads - shared);
  return terms;
}

Int128 MultiThreaded::share_before(const Member& self) const {
  Int128 exclusive = 0;
  Int128 shared = 0;
  for (const Member& each : members_) {
    if (each.activations->unbounded()) continue;
    const bool alone = &each == &self || exclude(self, each);
    (alone ? exclusive : shared) += long_run_demand(each.callback, *each.activations).slope;
  }
  return exclusive + (shared / executor_.description.threads);
}

std::optional<Reason> MultiThreaded::divergence(CallbackIndex callback) const {
  const Int128 share = share_before(member(callback));
  if (share < whole_thread()) return std::nullopt;
  return Reason{.text =
                    "what may run before it on executor \"{executor}\", all of its group and a "
                    "thread's part of all others, needs {demand} of a thread",
                .utilisation = {.demand = in_processors(share),
                                .supply = in_processors(whole_thread()),
                                .overloaded = true}};
}

/// With R the bound and r = occupied(1): R = S + r - ε, and S is what Theorem 2 has, without
/// polling points and with an m-th of what runs on any thread.
Int128 MultiThreaded::long_run_response(CallbackIndex callback, const LongRunPoint& point) {
  const Member& self = member(callback);
  const Duration last = occupied(self, 1);
  const Int128 present = point.response(callback);
  if (last == unbounded_time || present < point.time(last)) return 0;
  const Int128 start = present - point.time(last);
  const Int128 before = point.time(epsilon);
  Int128 exclusive = point.demand(callback, std::max(Int128{0}, start + present - before));
  Int128 shared = 0;
  for (const Member& other : members_) {
    if (&other == &self) continue;
    if (response(other) == unbounded_time) return 0;
    (exclude(self, other) ? exclusive : shared) += point.demand(
        other.callback, std::max(Int128{0}, start + point.response(other.callback) - before));
  }
  return std::max(Int128{0},
                  (exclusive + shared / executor_.description.threads) / whole_thread() - before);
}

Line MultiThreaded::long_run_demand(CallbackIndex callback,
                                    const curves::DerivedCurve& activations) const {
  if (executor_.supply.blackout() == Duration{0}) {
    return ExecutorAnalysis::long_run_demand(callback, activations);
  }
  const Duration each = occupied(member(callback), 1);
  return demand_line(activations, {.cost = std::min(each, curves::longest_time), .instances = 1});
}

}  // namespace

std::unique_ptr<ExecutorAnalysis> make_multi_threaded(const Round& round, ExecutorIndex executor) {
  return std::make_unique<MultiThreaded>(round, executor);
}

}  // namespace takt::analysis
