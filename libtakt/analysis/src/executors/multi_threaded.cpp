#include "executors/multi_threaded.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "default_executor/default_executor.hpp"
#include "takt/curves/least_solution.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;
using curves::unbounded_time;
using Kind = Terms::Kind;
using Equation = Witness::Equation;

namespace {

/// The share of a thread that never lacks supply.
Int128 whole_thread() { return supplied_share(curves::SupplyBound::dedicated()); }

/// A lower bound of the longest time that all threads are busy (all_busy.hpp) with such work, in
/// which a unit uses one thread at a time. It consists of sums and minima only, so it may be part
/// of an equation for the long run.
Int128 all_busy_in_the_long_run(std::vector<Int128>& work, std::int64_t threads) {
  std::ranges::sort(work, std::greater{});
  Int128 rest = std::reduce(work.begin(), work.end(), Int128{0});
  Int128 least = rest / threads;
  for (const Int128 each : work) {
    if (--threads == 0) break;
    rest -= each;
    least = std::min(least, rest / threads);
  }
  return least;
}

}  // namespace

MultiThreaded::MultiThreaded(const Round& round, ExecutorIndex executor, Order order,
                             std::string_view name)
    : ExecutorAnalysis(round, executor),
      order_(order),
      name_(name),
      unit_of_(members_.size()),
      reached_(members_.size()) {
  std::map<std::size_t, std::size_t> known;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto& group = members_[i].task->group;
    std::size_t unit = units_.size();
    if (group) unit = known.try_emplace(*group, unit).first->second;
    if (unit == units_.size()) units_.push_back({.members = {}, .exclusive = group.has_value()});
    units_[unit].members.push_back(&members_[i]);
    unit_of_[i] = unit;
  }
}

Duration MultiThreaded::Before::total() const {
  return saturating_add(saturating_add(epsilon, exclusive), saturating_add(all_busy, lacking));
}

std::vector<MultiThreaded::SupplyGap> MultiThreaded::ways_to_count_gaps() const {
  if (dedicated()) return {SupplyGap::none};
  std::vector<SupplyGap> ways{SupplyGap::by_instance, SupplyGap::by_thread, SupplyGap::all_threads};
  if (executor_.supply.whole_budgets()) ways.push_back(SupplyGap::last_thread);
  return ways;
}

MultiThreaded::Waiting MultiThreaded::waiting_for(const Member& victim) const {
  Waiting waiting{.victim = &victim, .own = std::vector<bool>(units_.size(), false)};
  waiting.own[unit_of(victim)] = units_[unit_of(victim)].exclusive;
  return waiting;
}

MultiThreaded::Waiting MultiThreaded::waiting_for(std::span<const CallbackIndex> chain) const {
  Waiting waiting{.own = std::vector<bool>(units_.size(), false)};
  for (const CallbackIndex callback : chain) waiting.own[unit_of(member(callback))] = true;
  return waiting;
}

MultiThreaded::Waiting MultiThreaded::waiting_for_all(SupplyGap gap) const {
  return {From::quiet_executor, gap, nullptr, std::vector<bool>(units_.size(), true)};
}

/// The kind of windows by which a bound was found.
MultiThreaded::Waiting MultiThreaded::witnessed(std::span<const CallbackIndex> chain,
                                                const Witness& witness) const {
  const auto gap = static_cast<SupplyGap>(witness.index);
  if (witness.equation == Equation::threads_length) return waiting_for_all(gap);
  Waiting waiting = chain.size() == 1 ? waiting_for(member(chain.front())) : waiting_for(chain);
  waiting.gap = gap;
  if (witness.equation == Equation::threads_group) waiting.from = From::quiet_group;
  if (witness.equation == Equation::threads_window) waiting.from = From::quiet_executor;
  return waiting;
}

/// What members of the own units send within the window was activated within it (as in Lemma 18).
void MultiThreaded::derive_from_quiet(const Waiting& waiting) const {
  const ExecutorIndex executor = round_.system[members_.front().callback].executor;
  round_.effort.spend(executor_.propagation.size());
  round_.curves.derive_within(executor, [&](CallbackIndex sender) {
    return waiting.own[unit_of(member(sender))] ? Curves::Runs::always : Curves::Runs::unknown;
  });
  round_.effort.spend(round_.curves.take_work());
}

const curves::DerivedCurve& MultiThreaded::activations_of(const Waiting& waiting,
                                                          const Member& member) const {
  switch (waiting.from) {
    case From::quiet_executor:
      return *member.busy_activations;
    case From::quiet_group:
      return round_.curves.activations_within(member.callback);
    case From::activation:
      break;
  }
  return *member.activations;
}

/// How long an instance may hold its thread.
Duration MultiThreaded::longest_held(const Member& member) const {
  return std::min(executor_.supply.time_for(member.task->cost(1)), curves::longest_time);
}

/// How many instances of a callback may go before the victim, without those that are left at the
/// beginning of the window.
std::int64_t MultiThreaded::instances(const Waiting& waiting, const Member& member, Duration offset,
                                      Duration x) const {
  if (waiting.from == From::activation) {
    const std::int64_t all = pending(member, x);
    return &member == waiting.victim ? std::max<std::int64_t>(0, all - 1) : all;
  }
  const curves::DerivedCurve& activations = activations_of(waiting, member);
  // Instances of one callback start in order, also if they may run side by side.
  if (&member == waiting.victim) {
    return std::max<std::int64_t>(0, activations.count(offset + epsilon) - 1);
  }
  const bool in_order =
      order_ == Order::first_released && waiting.victim != nullptr && waiting.own[unit_of(member)];
  return activations.count(in_order ? std::min(x, offset + epsilon) : x);
}

/// Instances of a callback that wait or run at the same time were activated within its bound.
std::int64_t MultiThreaded::width(const Waiting& waiting, const Unit& unit) const {
  // Any number of threads may lack supply at once.
  if (waiting.gap == SupplyGap::by_instance) return threads();
  if (unit.exclusive) return 1;
  const Member& only = *unit.members.front();
  if (response(only) == unbounded_time) return threads();
  const std::int64_t most = only.activations->count(response(only));
  return std::clamp<std::int64_t>(most - (&only == waiting.victim ? 1 : 0), 0, threads());
}

/// The longest time that `instances` instances take once a thread is free for each. If it is
/// counted by instance, the time for which their threads lack supply is included.
Duration MultiThreaded::work(SupplyGap gap, const Member& member, std::int64_t instances) const {
  if (gap != SupplyGap::by_instance) return member.task->cost(instances);
  return saturating_multiply(executor_.supply.time_for(member.task->cost(1)), instances);
}

MultiThreaded::Before MultiThreaded::before(const Waiting& waiting, Duration offset,
                                            Duration x) const {
  round_.effort.spend(2 * weight());  // each is counted, and compared with the instance
  Before before;
  shared_.clear();
  held_.clear();
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    SharedWork shared{.width = 1};
    for (const Member* each : unit.members) {
      const std::int64_t fresh = instances(waiting, *each, offset, x);
      if (waiting.own[u]) {
        before.exclusive = saturating_add(before.exclusive, work(waiting.gap, *each, fresh));
        before.exclusive_instances = saturating_add(before.exclusive_instances, fresh);
        held_.push_back({each->task->cost(1), fresh});
        continue;
      }
      const std::int64_t carried =
          waiting.from == From::quiet_group ? std::max(fresh, pending(*each, x)) : fresh;
      shared.fresh = saturating_add(shared.fresh, work(waiting.gap, *each, fresh));
      shared.carried = saturating_add(shared.carried, work(waiting.gap, *each, carried));
    }
    if (waiting.own[u]) continue;
    shared.width = width(waiting, unit);
    shared_.push_back(shared);
  }
  const auto carriers = waiting.from == From::activation ? shared_.size()
                        : waiting.from == From::quiet_group
                            ? static_cast<std::size_t>(threads() - 1)
                            : 0;
  switch (waiting.gap) {
    case SupplyGap::by_instance:
      count_by_instance(carriers, before);
      break;
    case SupplyGap::all_threads:
      count_all_threads(carriers, before);
      break;
    case SupplyGap::last_thread:
      count_last_thread(carriers, before);
      break;
    case SupplyGap::by_thread:
      before.lacking = saturating_multiply(x - executor_.supply.supply(x), threads());
      [[fallthrough]];
    case SupplyGap::none:
      before.all_busy = longest_all_busy(shared_, threads(), carriers);
  }
  return before;
}

/// Whenever its units wait, each thread except the one that goes on with them may lack supply for a
/// while, and takes no work then.
void MultiThreaded::count_by_instance(std::size_t carriers, Before& before) const {
  if (!shared_.empty()) {
    const Duration idle =
        saturating_multiply(saturating_multiply(executor_.supply.blackout(), threads() - 1),
                            saturating_add(before.exclusive_instances, std::int64_t{1}));
    shared_.push_back({.fresh = idle, .carried = idle, .width = threads()});
  }
  before.all_busy = longest_all_busy(shared_, threads(), carriers);
}

/// All that the threads are supplied goes to the work, except what others are supplied while one of
/// them holds an instance of the own units.
void MultiThreaded::count_all_threads(std::size_t carriers, Before& before) const {
  Duration idle{0};
  for (const Held& held : held_) {
    const Duration longest = executor_.supply.time_for(held.cost);
    idle = saturating_add(idle, saturating_multiply(longest, held.instances));
  }
  idle = saturating_add(before.exclusive, saturating_multiply(idle, threads() - 1));
  shared_.push_back({.fresh = idle, .carried = idle, .width = threads()});
  for (SharedWork& shared : shared_) shared.width = threads();
  const Duration supplied = longest_all_busy(shared_, threads(), carriers);
  before.all_busy = std::max(Duration{0}, supplied - before.exclusive);
  const Duration needed = saturating_add(supplied, epsilon);
  before.lacking = executor_.supply.time_for(needed) - needed;
}

/// All that the last thread to hold an instance of the own units is supplied goes to the work. Each
/// time that another one takes such an instance it may lack supply for a blackout, and after each
/// whole budget for the rest of a period.
void MultiThreaded::count_last_thread(std::size_t carriers, Before& before) const {
  before.all_busy = longest_all_busy(shared_, 1, carriers);
  const curves::SupplyBound& supply = executor_.supply;
  before.lacking = saturating_add(
      saturating_multiply(supply.blackout(), saturating_add(before.exclusive_instances, 1)),
      saturating_multiply(
          supply.period() - supply.budget(),
          std::min(budgets_for(before.all_busy),
                   saturating_add(before.exclusive, before.all_busy) / supply.budget())));
}

/// The greatest Σ ⌊(C_j + y_j) / Q⌋ over the instances, and one of no cost, with Σ y_j = `others`.
/// The first budget of each costs what its instance leaves of it, and the next ones whole budgets.
std::int64_t MultiThreaded::budgets_for(Duration others) const {
  const Duration budget = executor_.supply.budget();
  std::int64_t budgets = 0;
  held_.push_back({Duration{0}, 1});
  for (Held& held : held_) {
    budgets = saturating_add(budgets, saturating_multiply(held.instances, held.cost / budget));
    held.cost = budget - held.cost % budget;
  }
  std::ranges::sort(held_, {}, &Held::cost);
  for (const auto& [rest, instances] : held_) {
    const std::int64_t filled = std::min(instances, others / rest);
    budgets = saturating_add(budgets, filled);
    others -= filled * rest;
    if (filled < instances) break;
  }
  return saturating_add(budgets, others / budget);
}

Duration MultiThreaded::last_cost(const Waiting& waiting, Duration offset) const {
  const Cost& cost = waiting.victim->task->cost;
  if (!dedicated()) return executor_.supply.time_for(cost(1));
  if (waiting.from == From::activation || !waiting.own[unit_of(*waiting.victim)]) return cost(1);
  return cost.marginal(
      saturating_add(instances(waiting, *waiting.victim, offset, offset), std::int64_t{1}));
}

Int128 MultiThreaded::share_before(const Waiting& waiting) const {
  const auto share = [](const Member& each, Duration cost) {
    if (each.activations->unbounded()) return Int128{0};
    return demand_line(*each.activations, {.cost = cost, .instances = 1}).slope;
  };
  const auto plain = [](const Member& each) {
    if (each.activations->unbounded()) return Int128{0};
    return demand_line(*each.activations, each.task->cost).slope;
  };
  const SupplyGap gap = waiting.gap;
  const Duration budget = executor_.supply.budget();
  Int128 exclusive = 0;
  Int128 in_whole_budgets = 0;
  std::vector<Int128> shared;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    Int128 sum = 0;
    Int128 lacking = 0;
    Int128 whole = 0;
    for (const Member* each : units_[u].members) {
      const Int128 held = share(*each, longest_held(*each));
      sum += gap == SupplyGap::by_instance ? held : plain(*each);
      if (gap == SupplyGap::all_threads) {
        lacking += held * (threads() - 1);
      } else if (gap == SupplyGap::last_thread) {
        const Duration cost = each->task->cost(1);
        lacking += share(*each, executor_.supply.blackout());
        whole += std::min(plain(*each), share(*each, cost - cost % budget));
      }
    }
    if (waiting.own[u]) {
      exclusive += sum + lacking;
      in_whole_budgets += whole;
    } else {
      shared.push_back(sum);
      in_whole_budgets += sum;
    }
  }
  if (gap == SupplyGap::by_thread) {
    exclusive += (whole_thread() - supplied_share(executor_.supply)) * threads();
  }
  const Int128 all = std::reduce(shared.begin(), shared.end(), exclusive);
  if (gap == SupplyGap::all_threads) {
    return all / threads() * whole_thread() / supplied_share(executor_.supply);
  }
  if (gap == SupplyGap::last_thread) {
    // At least so many budgets as in budgets_for(), and each is followed by the rest of its period.
    return all + in_whole_budgets / budget.count() * (executor_.supply.period() - budget).count();
  }
  if (waiting.from == From::quiet_executor) return all;
  return exclusive + all_busy_in_the_long_run(shared, threads());
}

bool MultiThreaded::ends(const Waiting& waiting) const {
  return share_before(waiting) < whole_thread();
}

MultiThreaded::Reached* MultiThreaded::reached(const Waiting& waiting) const {
  if (waiting.victim == nullptr) return nullptr;
  const std::size_t rank = round_.system[waiting.victim->callback].rank;
  return &reached_[rank].at(static_cast<std::size_t>(waiting.gap));
}

LocalBound MultiThreaded::from_activation(const Waiting& waiting, Duration enough) const {
  Reached& reached = *this->reached(waiting);
  const Duration start = curves::least_solution(
      curves::SupplyBound::dedicated(), reached.from_activation, latest_start(enough),
      [&](Duration x) { return before(waiting, Duration{0}, x).total(); });
  if (start == unbounded_time) return {};
  reached.from_activation = start;
  return {.response = saturating_add(start - epsilon, last_cost(waiting, Duration{0})),
          .witness = {.by = name_, .equation = Equation::threads, .start = start}};
}

LocalBound MultiThreaded::from_quiet_group(const Waiting& waiting, Duration enough) const {
  Waiting all = waiting;
  all.victim = nullptr;
  const auto least = [&](const Waiting& what, Duration offset, Duration from, Duration limit) {
    return curves::least_solution(curves::SupplyBound::dedicated(), from, limit,
                                  [&](Duration x) { return before(what, offset, x).total(); });
  };
  Reached* const reached = this->reached(waiting);
  // The longest response is at least that of an instance that is activated as the window begins.
  const Duration first =
      least(waiting, Duration{0}, reached ? reached->in_group : epsilon, latest_start(enough));
  if (first == unbounded_time) return {};
  const Duration at_least = reached ? std::max(first, reached->group_length) : first;
  const Duration length = least(all, Duration{0}, at_least, horizon());
  if (length == unbounded_time) return {};
  if (reached == nullptr) {
    return {.response = length - epsilon,
            .witness = {.by = name_, .equation = Equation::threads_group, .start = length}};
  }
  reached->in_group = first;
  reached->group_length = length;
  const auto complete = [&](Duration offset, Duration from) {
    const Duration start = least(waiting, offset, std::max(first, from), horizon());
    if (start == unbounded_time) return Completion{start, start};
    return Completion{start, saturating_add(start - epsilon, last_cost(waiting, offset))};
  };
  const auto next_offset = [&](Duration offset) {
    Duration next = unbounded_time;
    for (const Member* each : units_[unit_of(*waiting.victim)].members) {
      if (each != waiting.victim && order_ == Order::any) continue;
      next = std::min(next, activations_of(waiting, *each).next_step(offset));
    }
    return next == unbounded_time ? next : next - epsilon;
  };
  // A bound below that of the round before changes nothing.
  const LongestResponse longest = longest_response(
      length, complete, next_offset, {.shortest = response(*waiting.victim), .longest = enough});
  return ExecutorAnalysis::witnessed(name_, Equation::threads_group, longest);
}

Duration MultiThreaded::executor_length(SupplyGap gap) const {
  auto& length = executor_lengths_.at(static_cast<std::size_t>(gap));
  if (length) return *length;
  const Waiting all = waiting_for_all(gap);
  // If the share is close to one thread, such a window is long, and others give lower bounds.
  const bool ends_soon = share_before(all) < whole_thread() - (whole_thread() >> 6);
  length = !ends_soon ? unbounded_time
                      : curves::least_solution(
                            curves::SupplyBound::dedicated(), epsilon, horizon(),
                            [&](Duration x) { return before(all, Duration{0}, x).total(); });
  return *length;
}

LocalBound MultiThreaded::from_quiet_executor(const Waiting& waiting) const {
  const Duration length = executor_length(waiting.gap);
  if (length == unbounded_time) return {};
  const Duration offset = length - epsilon;
  Duration latest = before(waiting, offset, length).total();
  if (waiting.victim != nullptr) latest = saturating_add(latest, last_cost(waiting, offset));
  const auto equation = latest < length ? Equation::threads_window : Equation::threads_length;
  return {.response = std::min(length, latest) - epsilon,
          .witness = {.by = name_, .equation = equation, .offset = offset, .start = length}};
}

LocalBound MultiThreaded::lowest(Waiting waiting) const {
  LocalBound best;
  bool derived = false;
  for (const SupplyGap gap : ways_to_count_gaps()) {
    waiting.gap = gap;
    const auto take = [&](LocalBound bound) {
      bound.witness.index = static_cast<std::size_t>(gap);
      best.take_lower(bound);
    };
    waiting.from = From::quiet_executor;
    take(from_quiet_executor(waiting));
    waiting.from = From::activation;
    if (!ends(waiting)) continue;
    if (waiting.victim != nullptr) take(from_activation(waiting, best.response));
    waiting.from = From::quiet_group;
    if (!std::exchange(derived, true)) derive_from_quiet(waiting);
    take(from_quiet_group(waiting, best.response));
  }
  return best;
}

LocalBound MultiThreaded::bound(CallbackIndex callback) {
  const Member& victim = member(callback);
  if (victim.activations->unbounded()) return {};
  return lowest(waiting_for(victim));
}

/// From a chain's activation to its completion one of its callbacks waits or runs (Lemma 7), so it
/// lasts no longer than a window of their units. Where it goes from unit to unit, it may be less to
/// bound the parts one by one: then each counts nothing but its own unit as exclusive.
LocalBound MultiThreaded::bound(std::span<const CallbackIndex> chain) {
  LocalBound best = sum_of_callbacks(chain);
  if (best.response == unbounded_time) return {};
  const std::vector<Part> each = parts(chain);
  LocalBound sum{.response = Duration{0},
                 .witness = {.by = name_, .equation = Equation::chain_parts}};
  for (const Part& part : each) {
    sum.response = saturating_add(sum.response, part.bound.response);
  }
  best.take_lower(sum);
  if (each.size() > 1) best.take_lower(lowest(waiting_for(chain)));
  return best;
}

std::vector<MultiThreaded::Part> MultiThreaded::parts(std::span<const CallbackIndex> chain) const {
  std::vector<Part> parts;
  for (std::size_t first = 0; first < chain.size();) {
    const std::size_t unit = unit_of(member(chain[first]));
    std::size_t end = first + 1;
    while (end < chain.size() && unit_of(member(chain[end])) == unit) ++end;
    const auto callbacks = chain.subspan(first, end - first);
    LocalBound bound = sum_of_callbacks(callbacks);
    if (callbacks.size() > 1) bound.take_lower(lowest(waiting_for(callbacks)));
    parts.push_back({callbacks, bound});
    first = end;
  }
  return parts;
}

Terms MultiThreaded::terms(std::span<const CallbackIndex> chain, const LocalBound& bound) const {
  const Witness& witness = bound.witness;
  if (witness.equation == Equation::chain_parts) {
    Terms sum(round_.system);
    for (const Part& part : parts(chain)) sum.append(explain(part.callbacks, part.bound));
    return sum;
  }
  const Waiting waiting = witnessed(chain, witness);
  if (waiting.from == From::quiet_group) derive_from_quiet(waiting);
  const Duration all_busy = before(waiting, witness.offset, witness.start).all_busy;
  Terms terms(round_.system);
  Duration shared{0};
  for (std::size_t u = 0; u < units_.size(); ++u) {
    // A unit without a bound counts for no more than what keeps all threads busy.
    Duration left = saturating_multiply(all_busy, threads());
    for (const Member* each : units_[u].members) {
      std::int64_t count = instances(waiting, *each, witness.offset, witness.start);
      if (!waiting.own[u] && waiting.from == From::quiet_group) {
        count = std::max(count, pending(*each, witness.start));
      }
      const Cost& cost = each->task->cost;
      const bool of_chain = std::ranges::find(chain, each->callback) != chain.end();
      const bool is_last = each->callback == chain.back();
      if (is_last && waiting.victim == nullptr) {
        terms.add_cost(Kind::execution, each->callback, cost, count - 1, count);
        --count;
      } else if (is_last) {
        const bool marginal = waiting.own[u] && waiting.from != From::activation && dedicated();
        const std::int64_t earlier = marginal ? count : 0;
        terms.add_cost(Kind::execution, each->callback, cost, earlier, earlier + 1);
      }
      const Kind kind = of_chain ? Kind::earlier : Kind::interference;
      if (waiting.own[u]) {
        terms.add_cost(kind, each->callback, cost, 0, count);
        continue;
      }
      const Duration before = left;
      left = terms.add_within(left, kind, each->callback, cost, count);
      shared += before - left;
    }
  }
  terms.add(Kind::parallel, std::min(Duration{0}, all_busy - shared));
  if (waiting.from == From::quiet_group && waiting.victim != nullptr) {
    terms.add(Kind::elapsed, -witness.offset);
  }
  // Each instance, or each thread, waits for supply.
  if (!dedicated()) terms.add(Kind::supply, bound.response - terms.total());
  return terms;
}

std::optional<Reason> MultiThreaded::divergence(CallbackIndex callback) const {
  Int128 least = 0;
  bool any = false;
  Waiting waiting = waiting_for(member(callback));
  for (const SupplyGap gap : ways_to_count_gaps()) {
    waiting.gap = gap;
    const Int128 share = share_before(waiting);
    if (share < whole_thread()) return std::nullopt;
    least = any ? std::min(least, share) : share;
    any = true;
  }
  return Reason{.text = dedicated()
                            ? "what may run before it on executor \"{executor}\", all of its group "
                              "and a thread's part of all others, needs {demand} of a thread"
                            : "what may run before it on executor \"{executor}\" and the time for "
                              "which its threads lack supply need {demand} of a thread",
                .utilisation = {.demand = in_processors(least),
                                .supply = in_processors(whole_thread()),
                                .overloaded = true}};
}

/// Let R be the bound, r what the last instance takes at least, and S = R - r + ε. All windows
/// count at least what is activated in their first S, or in a longer one, and at least as much as
/// groups that use one thread each. Those of the executor carry no jitter of its callbacks, and
/// those of a group carry at least as much.
Int128 MultiThreaded::long_run_response(CallbackIndex callback, const LongRunPoint& point) {
  Int128 least = LongRunPoint::most();
  Waiting waiting = waiting_for(member(callback));
  for (const SupplyGap gap : ways_to_count_gaps()) {
    waiting.gap = gap;
    waiting.from = From::quiet_executor;
    const bool windows = executor_length(gap) != unbounded_time;
    if (!windows) waiting.from = From::quiet_group;
    if (windows || ends(waiting)) least = std::min(least, long_run_response(waiting, point));
  }
  return least == LongRunPoint::most() ? 0 : least;
}

Int128 MultiThreaded::long_run_response(const Waiting& waiting, const LongRunPoint& point) const {
  const Duration last = executor_.supply.time_for(waiting.victim->task->cost(1));
  const Int128 present = point.response(waiting.victim->callback);
  if (last == unbounded_time || present < point.time(last)) return 0;
  const Int128 start = present - point.time(last);
  Int128 exclusive = 0;
  std::vector<Int128> shared;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    Int128 sum = 0;
    for (const Member* each : units_[u].members) {
      if (each == waiting.victim) {
        exclusive += long_run_work(waiting.gap, *each, waiting.own[u], 0, point);
      } else {
        sum += long_run_work(waiting.gap, *each, waiting.own[u], start, point);
      }
    }
    if (waiting.own[u]) {
      exclusive += sum;
    } else {
      shared.push_back(sum);
    }
  }
  const Int128 all = std::reduce(shared.begin(), shared.end(), exclusive);
  const auto needed = [&] {
    switch (waiting.gap) {
      case SupplyGap::all_threads:
        return all / threads() / supplied_share(executor_.supply);
      case SupplyGap::last_thread:
        return all / whole_thread();
      default:
        return (exclusive + all_busy_in_the_long_run(shared, threads())) / whole_thread();
    }
  };
  return std::max(Int128{0}, needed() - point.time(epsilon));
}

/// On reservations the long-run demand of a callback counts what each of its instances lacks.
Int128 MultiThreaded::long_run_work(SupplyGap gap, const Member& member, bool own, Int128 window,
                                    const LongRunPoint& point) const {
  const Int128 with_gaps = point.demand(member.callback, window, true);
  // Where instances cost nothing, nothing is counted.
  const Duration held = std::max(longest_held(member), epsilon);
  const auto part = [&](Duration of_instance) {
    return with_gaps / held.count() * of_instance.count();
  };
  const Duration cost{static_cast<std::int64_t>(long_run_cost(member.task->cost) >> unit_bits)};
  switch (gap) {
    case SupplyGap::none:
    case SupplyGap::by_instance:
      break;
    case SupplyGap::by_thread:
      return 0;
    case SupplyGap::all_threads:
      return part(cost) + (own ? with_gaps * (threads() - 1) : 0);
    case SupplyGap::last_thread:
      return part(cost) + (own ? part(executor_.supply.blackout()) : 0);
  }
  return with_gaps;
}

Line MultiThreaded::long_run_demand(CallbackIndex callback,
                                    const curves::DerivedCurve& activations) const {
  if (dedicated()) return ExecutorAnalysis::long_run_demand(callback, activations);
  return demand_line(activations, {.cost = longest_held(member(callback)), .instances = 1});
}

std::unique_ptr<ExecutorAnalysis> make_multi_threaded(const Round& round, ExecutorIndex executor) {
  using Order = MultiThreaded::Order;
  // With one thread it is the default executor.
  if (round.system.executors[executor.value()].description.threads == 1) {
    return std::make_unique<DefaultExecutor>(round, executor, "privileged");
  }
  return std::make_unique<MultiThreaded>(round, executor, Order::any, "multi_threaded");
}

}  // namespace takt::analysis
