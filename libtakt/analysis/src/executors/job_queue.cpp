#include "executors/job_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "executors/release_overhead.hpp"

namespace takt::analysis {

using curves::unbounded_time;
using Equation = Witness::Equation;

JobQueueExecutor::JobQueueExecutor(const Round& round, ExecutorIndex executor)
    : ExecutorAnalysis(round, executor) {
  if (executor_.release_overhead == Duration{0}) return;
  for (const Member& member : members_) tasks_with_releases_.push_back(*member.task);
  releases_.resize(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) members_[i].task = &tasks_with_releases_[i];
  release_cost_.emplace(std::vector{executor_.release_overhead}, std::vector<Duration>{});
  for (const Task& task : tasks_with_releases_) {
    const auto cost =
        task.cost.plus(curves::saturating_multiply(executor_.release_overhead, task.local_sends));
    endless_releases_ = endless_releases_ || !cost;
    costs_with_sends_.push_back(cost.value_or(task.cost));
  }
}

void JobQueueExecutor::begin_round() {
  ExecutorAnalysis::begin_round();
  follow_releases();
  renew();
}

bool JobQueueExecutor::follow_releases() {
  if (releases_.empty()) return false;
  const ExecutorIndex index = round_.system[members_.front().callback].executor;
  const ReleaseOverhead overhead(round_, index);
  length_with_releases_.reset();
  released_.clear();
  overhead.add_to(released_);
  released_.finish();
  const Duration before = overhead.before_decision();
  bool changed = std::exchange(before_decision_, before) != before;
  endless_releases_ = endless_releases_ || before == unbounded_time;
  for (std::size_t i = 0; i < releases_.size(); ++i) {
    const CallbackIndex callback = members_[i].callback;
    const Task& task = round_.system[callback];
    const Duration releases = overhead.of_instance(callback);
    if (releases == releases_[i]) continue;
    releases_[i] = releases;
    changed = true;
    const auto cost = task.cost.plus(releases);
    endless_releases_ = endless_releases_ || !cost;
    if (cost) tasks_with_releases_[i].cost = *cost;
  }
  return changed;
}

/// The victim's deadline is at most D_i after its activation. The other's is at least D_j - J_j
/// after its activation, if that is at most J_j after the origin: an instance activated later than
/// D_i - D_j + J_j after the victim does not go before it.
///
/// Where both count deadlines from their own activations, an instance that has begun when the
/// window does, and is less urgent than a victim activated at offset t, has D_j > t + D_i. From t =
/// D_j - D_i on an instance activated at the window's beginning goes before the victim instead.
JobQueueExecutor::Interference JobQueueExecutor::by_deadline(const Member& other,
                                                             const Member& victim) {
  const policy::Urgency& theirs = other.task->urgency;
  const policy::Urgency& ours = victim.task->urgency;
  const Duration since_origin = other.activations->since_origin();
  const Duration own_since_origin = victim.activations->since_origin();
  constexpr Duration none = scheduling::PolicyDescription::longest_deadline;
  if (since_origin == unbounded_time || own_since_origin == unbounded_time ||
      theirs.longest_deadline == none || ours.longest_deadline == none) {
    return {.blocks = true, .precedes = true};
  }
  const Duration reach = ours.longest_deadline - theirs.shortest_deadline + since_origin + epsilon;
  const bool exact = since_origin == Duration{0} && own_since_origin == Duration{0} &&
                     theirs.shortest_deadline == theirs.longest_deadline &&
                     ours.shortest_deadline == ours.longest_deadline;
  return {.blocks = theirs.longest_deadline > ours.shortest_deadline - own_since_origin,
          .blocks_until = exact ? theirs.longest_deadline - ours.shortest_deadline : unbounded_time,
          .precedes = true,
          .limit = Interferer::Limit{.reach = reach, .extra = 0}};
}

BusyWindow JobQueueExecutor::executor_window(const Member& victim) const {
  std::vector<Interferer> others;
  others.reserve(members_.size());
  for (const Member& other : members_) {
    if (&other == &victim && !victim.task->urgency.overtakes) continue;
    Interferer& delaying = others.emplace_back(interferer(other, Window::executor));
    if (&other == &victim) continue;
    const Interference how = interference(other, victim);
    if (!how.precedes) {
      // An instance selected before the victim's activation was itself activated before it, or at
      // the same instant if it activates the victim as it starts.
      delaying.limit = {.reach = victim.task->is_source() ? Duration{0} : epsilon, .extra = 0};
    } else if (how.limit) {
      delaying.limit = {.reach = std::max(epsilon, how.limit->reach), .extra = how.limit->extra};
    }
  }
  return {executor_.supply_from_quiet, limits(), interferer(victim, Window::executor),
          std::move(others),           {},       before_decision(victim)};
}

BusyWindow JobQueueExecutor::level_window(const Member& victim) const {
  Blockers blockers;
  std::vector<Interferer> others;
  others.reserve(members_.size());
  for (const Member& other : members_) {
    if (&other == &victim) {
      if (victim.task->urgency.overtakes) others.push_back(interferer(other, Window::level));
      continue;
    }
    const Interference how = interference(other, victim);
    if (how.blocks || !how.precedes) {
      blockers.add({blocking(other, victim), other.callback}, how.blocks_until);
    }
    if (!how.precedes) continue;
    others.push_back(interferer(other, Window::level));
    others.back().limit = how.limit;
  }
  return {executor_.supply_from_quiet,
          limits(),
          interferer(victim, Window::level),
          std::move(others),
          std::move(blockers),
          before_decision(victim)};
}

BusyWindow JobQueueExecutor::with_releases(const BusyWindow& window, Window which) const {
  const auto with_sends = [&](Interferer of) {
    of.cost = &costs_with_sends_[round_.system[of.callback].rank];
    return of;
  };
  std::vector<Interferer> others;
  std::ranges::transform(window.others(), std::back_inserter(others), with_sends);
  const Interferer self = with_sends(window.self());
  // Either an instance has begun before the window, with all releases while it runs, or none has,
  // and releases put off the first decision. At all offsets alike: an instance that no longer
  // blocks counts as an interferer's without the releases while it runs, so the demand would fall.
  Blocking longest = window.blockers().longest();
  if (which == Window::level) longest.take_longer(before_decision_, self.callback);
  BusyWindow result(executor_.supply_from_quiet, limits(), self, std::move(others),
                    Blockers(longest));
  const std::size_t rank = round_.system[self.callback].rank;
  const Task& plain = round_.system[self.callback];
  const Duration sends = (*self.cost)(1) - plain.cost(1);
  result.count_releases({self.callback, &*release_cost_, &released_, std::nullopt},
                        releases_[rank] - sends);
  return result;
}

Duration JobQueueExecutor::length_with_releases() {
  if (releases_.empty() || released_.unbounded()) return unbounded_time;
  if (!length_with_releases_) {
    const BusyWindow window = window_of_all();
    length_with_releases_ =
        ends(window) ? with_releases(window, Window::executor).length() : unbounded_time;
  }
  return *length_with_releases_;
}

LocalBound JobQueueExecutor::bound(CallbackIndex callback) {
  // Curves of messages that take time within the executor depend on bounds that may just have
  // changed. All others stay as they are within a round.
  if (executor_.delayed && follow_releases()) {
    ExecutorAnalysis::begin_round();
    renew();
  }
  const Member& victim = member(callback);
  if (victim.activations->unbounded() || endless_releases_) return {};
  round_.effort.spend(members_.size());  // to put two windows of all of them together
  LocalBound best = own_bound(std::span(&callback, 1));
  // A window with a response above the bound so far gives no lower one.
  const auto take = [&](Equation equation, BusyWindow window, Duration length) {
    best.take_lower(witnessed(name(), equation, window.longest_response(length, best.response)));
  };
  if (const Duration length = busy_window_length(); length != unbounded_time) {
    take(Equation::executor_window, executor_window(victim), length);
  }
  if (const BusyWindow level = level_window(victim); ends(level)) {
    take(Equation::level_window, level, level.length());
  }
  if (const Duration length = length_with_releases(); length != unbounded_time) {
    take(Equation::releases_executor, with_releases(executor_window(victim), Window::executor),
         length);
    const BusyWindow level = with_releases(level_window(victim), Window::level);
    take(Equation::releases_level, level, level.length());
  }
  return best;
}

LocalBound JobQueueExecutor::bound(std::span<const CallbackIndex> chain) {
  LocalBound best = sum_of_callbacks(chain);
  if (best.response == unbounded_time) return {};
  best.take_lower(own_bound(chain));
  const Duration length = busy_window_length();
  best.take_lower({length, {.by = name(), .equation = Equation::executor_length, .start = length}});
  const Duration released = length_with_releases();
  best.take_lower(
      {released, {.by = name(), .equation = Equation::releases_length, .start = released}});
  return best;
}

Terms JobQueueExecutor::terms(std::span<const CallbackIndex> chain, const LocalBound& bound) const {
  const Witness& witness = bound.witness;
  if (witness.equation == Equation::executor_length) {
    return terms_of_length(window_of_all(), witness.start, chain.back());
  }
  if (witness.equation == Equation::executor_completion) {
    return terms_of_length(window_of_all(), witness.start, chain.back(), Duration{0});
  }
  const Member& victim = member(chain.back());
  if (witness.equation == Equation::level_completion) {
    const Member& least = least_urgent(chain);
    return terms_of_length(narrowed_level(least, level_of(least).value(), witness.index),
                           witness.start, chain.back(), Duration{0});
  }
  if (witness.equation == Equation::narrowed_level) {
    return terms_of_instance(narrowed_level(victim, level_of(victim).value(), witness.index),
                             witness, witness.offset);
  }
  if (witness.equation == Equation::narrowed_executor) {
    return terms_of_instance(narrowed_executor(victim), witness, witness.offset);
  }
  if (witness.equation == Equation::releases_length) {
    return terms_of_length(with_releases(window_of_all(), Window::executor), witness.start,
                           chain.back());
  }
  if (witness.equation == Equation::releases_level) {
    return terms_of_instance(with_releases(level_window(victim), Window::level), witness,
                             witness.offset);
  }
  if (witness.equation == Equation::releases_executor) {
    return terms_of_instance(with_releases(executor_window(victim), Window::executor), witness,
                             witness.offset);
  }
  const BusyWindow window =
      witness.equation == Equation::level_window ? level_window(victim) : executor_window(victim);
  return terms_of_instance(window, witness, witness.offset);
}

Int128 JobQueueExecutor::long_run_response(CallbackIndex callback, const LongRunPoint& point) {
  if (endless_releases_) return 0;
  const Member& victim = member(callback);
  Int128 least = long_run_own_bound(callback, point);
  if (busy_window_length() != unbounded_time || length_with_releases() != unbounded_time) {
    least = std::min(least, ExecutorAnalysis::long_run_response(executor_window(victim),
                                                                Window::executor, point));
  }
  if (const BusyWindow level = level_window(victim); ends(level)) {
    least = std::min(least, ExecutorAnalysis::long_run_response(level, Window::level, point));
  }
  return least == LongRunPoint::most() ? 0 : least;
}

/// Without releases: the windows in which they count as they come do not count them as part of
/// costs, so a proof of divergence may not either.
Line JobQueueExecutor::long_run_demand(CallbackIndex callback,
                                       const curves::DerivedCurve& activations) const {
  return demand_line(activations, round_.system[callback].cost);
}

}  // namespace takt::analysis
