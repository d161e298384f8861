// What the equations of each executor's analysis tend to (fluid.hpp, docs/analysis.md): lines below
// demands and above supplies, for bounds that agree with themselves.

#include <algorithm>

#include "default_executor.hpp"
#include "multi_threaded_executor.hpp"
#include "queue_executor.hpp"
#include "table_driven_executor.hpp"

namespace takt::analysis {

using curves::unbounded_time;

namespace {

/// Of a thread that never lacks supply.
const Wide whole_processor = supplied_share(curves::SupplyBound::dedicated());

}  // namespace

Line ExecutorAnalysis::long_run_demand(CallbackIndex callback,
                                       const DerivedCurve& activations) const {
  return demand_line(activations, members_[round_.system[callback].rank].task->cost);
}

Wide ExecutorAnalysis::long_run_cost_of(CallbackIndex callback) const {
  return long_run_cost(members_[round_.system[callback].rank].task->cost);
}

/// Let R be the bound and r the longest time in which ET_i(1) is supplied. The instance activated
/// at offset ε starts at S and finishes at z <= R + ε, S >= z - r, and by Lemma 17
///
///   sbf(z) >= blocking + ET_i(η_i(ε)) + Σ ET_j(min(η_j(S), limit_j(ε))).
///
/// With lines in place of curves the demand rises more slowly with z than the supply, or the window
/// would not end: what holds of z holds of R + ε.
Wide ExecutorAnalysis::least_response(const BusyWindow& window, const FluidPoint& point) const {
  const CallbackIndex victim = callback_of(window.self().cost);
  const Duration last = executor_.supply.time_for((*window.self().cost)(1));
  const Wide response = point.response(victim);
  if (last == unbounded_time || response < point.time(last)) return 0;
  const auto demand = [&](const Interferer& of, Wide x) {
    const Member& member = members_[round_.system[callback_of(of.cost)].rank];
    return of.activations == member.busy_activations ? point.busy_demand(member.callback, x)
                                                     : point.demand(member.callback, x);
  };
  const Wide supplied = supplied_share(executor_.supply);
  Wide sum =
      point.demand(window.blocking()) + demand(window.self(), 0) - (point.time(epsilon) * supplied);
  for (const Interferer& other : window.others()) {
    Wide need = demand(other, response - point.time(last));
    if (other.limit) {
      const CallbackIndex callback = callback_of(other.cost);
      Wide most = 0;
      if (other.limit->reach >= Duration{0}) most = demand(other, point.time(other.limit->reach));
      // Only polling points let more of them go before.
      if (other.limit->extra > 0) {
        most += point.demand_at_cost(victim, response, long_run_cost(*other.cost));
        if (round_.system[callback].rank < round_.system[victim].rank) {
          most += point.one_instance(callback);
        }
      }
      need = std::min(need, most);
    }
    sum += need;
  }
  return std::max(Wide{0}, sum / supplied);
}

Wide DefaultExecutor::least_round_robin(std::size_t index, const FluidPoint& point) const {
  const Member& self = members_[index];
  const Duration last = executor_.supply.time_for(self.task->cost(1));
  const Wide present = point.response(self.callback);
  if (last == unbounded_time || present < point.time(last)) return 0;
  const Wide start = present - point.time(last);
  const Wide before = point.time(epsilon);
  Wide sum = point.demand(self.callback, std::max(Wide{0}, start + present - before));
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == index) continue;
    const Member& other = members_[j];
    Wide admitted = point.demand_at_cost(self.callback, present, long_run_cost(other.task->cost));
    if (j < index) admitted += point.one_instance(other.callback);
    if (response(other) == unbounded_time || other.activations->unbounded()) {
      sum += admitted;
      continue;
    }
    const Wide pending = point.demand(
        other.callback, std::max(Wide{0}, start + point.response(other.callback) - before));
    sum += other.task->polled ? std::min(pending, admitted) : pending;
  }
  return sum / supplied_share(executor_.supply);
}

Wide DefaultExecutor::least_response(CallbackIndex callback, const FluidPoint& point) {
  const std::size_t index = round_.system[callback].rank;
  const Member& member = members_[index];
  if (!member.task->polled) {
    return ExecutorAnalysis::least_response(privileged_window(index).window, point);
  }
  const bool busy_window =
      round_.options.method != Method::round_robin && busy_window_length() != unbounded_time;
  if (round_.options.method == Method::busy_window && !busy_window) return 0;
  Wide least =
      round_.options.method == Method::busy_window ? point.most() : least_round_robin(index, point);
  if (busy_window) {
    const BusyWindow window = window_of(index, polling_points(member));
    least = std::min(least, ExecutorAnalysis::least_response(window, point));
  }
  return least;
}

Wide QueueExecutor::least_response(CallbackIndex callback, const FluidPoint& point) {
  const Member& victim = members_[round_.system[callback].rank];
  if (executor_.activated_outside_chain || endless_releases_) return 0;
  // That one does not depend on other bounds.
  if (deadline_chain_response(std::span(&callback, 1)) != unbounded_time) return 0;
  Wide least = point.most();
  if (busy_window_length() != unbounded_time) {
    least = ExecutorAnalysis::least_response(executor_window(victim), point);
  }
  if (const auto level = level_window(victim)) {
    least = std::min(least, ExecutorAnalysis::least_response(level->window, point));
  }
  if (tree_response(std::span(&callback, 1)) != unbounded_time) {
    least = std::min(least, least_tree_response(callback, point));
  }
  return least == point.most() ? 0 : least;
}

/// As for other busy windows; all of the tree's instances count, and there is no last cost.
Wide QueueExecutor::least_tree_response(CallbackIndex callback, const FluidPoint& point) const {
  const Wide supplied = supplied_share(executor_.supply);
  Wide longest = 0;
  for (const Tree& tree : executor_.trees) {
    if (std::ranges::count(tree.members, callback, &Tree::Member::callback) == 0) continue;
    const auto window = tree_window(tree);
    if (!window) continue;
    const auto demand = [&](const Tree& of, Wide x) {
      return point.demand_at_cost(of.root, x, Wide{work(of).count()} << unit_bits);
    };
    Wide sum = point.demand(window->blocking) + demand(tree, 0) - (point.time(epsilon) * supplied);
    for (const Tree* other : window->trees) sum += demand(*other, point.response(callback));
    longest = std::max(longest, sum / supplied);
  }
  return longest;
}

/// With R the bound and r = occupied(1): R = S + r - ε, and S is what Theorem 2 has, without
/// polling points and with an m-th of what runs on any thread.
Wide MultiThreadedExecutor::least_response(CallbackIndex callback, const FluidPoint& point) {
  const Member& self = members_[round_.system[callback].rank];
  const Duration last = occupied(self, 1);
  const Wide present = point.response(callback);
  if (last == unbounded_time || present < point.time(last)) return 0;
  const Wide start = present - point.time(last);
  const Wide before = point.time(epsilon);
  Wide exclusive = point.demand(callback, std::max(Wide{0}, start + present - before));
  Wide shared = 0;
  for (const Member& other : members_) {
    if (&other == &self) continue;
    if (response(other) == unbounded_time) return 0;
    (exclude(self, other) ? exclusive : shared) += point.demand(
        other.callback, std::max(Wide{0}, start + point.response(other.callback) - before));
  }
  return std::max(Wide{0}, (exclusive + shared / executor_.threads) / whole_processor - before);
}

Line MultiThreadedExecutor::long_run_demand(CallbackIndex callback,
                                            const DerivedCurve& activations) const {
  if (executor_.supply.blackout() == Duration{0}) {
    return ExecutorAnalysis::long_run_demand(callback, activations);
  }
  const Duration each = occupied(members_[round_.system[callback].rank], 1);
  return demand_line(activations, {.cost = std::min(each, curves::longest_time), .instances = 1});
}

/// All that are activated at once start one after the other: of n, the last one starts after
/// n / starts_per_cycle cycles, less one.
Wide TableDrivenExecutor::least_response(CallbackIndex callback, const FluidPoint& point) {
  const Member& member = members_[round_.system[callback].rank];
  if (slots_[member.task->rank].empty() || !most_instances(member)) return 0;
  return std::max(Wide{0},
                  (point.demand(callback, 0) / whole_processor) - point.time(table_->cycle));
}

Line TableDrivenExecutor::long_run_demand(CallbackIndex callback,
                                          const DerivedCurve& activations) const {
  const Member& member = members_[round_.system[callback].rank];
  if (slots_[member.task->rank].empty()) return {};
  return demand_line(activations, {.cost = table_->cycle, .instances = starts_per_cycle(member)});
}

}  // namespace takt::analysis
