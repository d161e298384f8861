// Combines Theorems 2 and 3 for each activation offset, and takes the order of callbacks within a
// processing window into account (docs/analysis-theory.md, "Narrower windows").

#include <algorithm>

#include "default_executor/default_executor.hpp"
#include "takt/curves/least_solution.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;
using Equation = Witness::Equation;

BusyWindow DefaultExecutor::narrowed_window(std::size_t index, std::int64_t points) const {
  BusyWindow window = processing_window(index, points);
  window.set_lag(lags()[index]);
  return window;
}

std::vector<DefaultExecutor::Direct> DefaultExecutor::direct(std::size_t index, std::int64_t points,
                                                             const BusyWindow& window,
                                                             Duration offset) const {
  const Member& self = members_[index];
  const Direct any{.victim = index,
                   .sender = std::nullopt,
                   .points = points,
                   .offset = offset,
                   .earlier = std::min(window.earlier(offset), points - 1)};
  std::vector<Direct> all;
  bool from_elsewhere = self.task->is_source() || self.task->own.has_value();
  for (const std::size_t e : self.task->incoming) {
    const TriggerEdge& edge = round_.system.edges[e];
    const Task& sender = round_.system[edge.from];
    if (!edge.local || !sender.polled || sender.rank == index) {
      from_elsewhere = true;
      continue;
    }
    all.push_back(any);
    all.back().sender = sender.rank;
  }
  if (from_elsewhere) all.push_back(any);
  return all;
}

const Jobs& DefaultExecutor::jobs() const {
  if (!jobs_) {
    round_.effort.spend(executor_.propagation.size());
    jobs_.emplace(round_.system, round_.curves, round_.system[members_.front().callback].executor);
  }
  return *jobs_;
}

/// Whether an instance of `other` may run in a processing window from the start of `begun` on.
bool DefaultExecutor::runs_from(std::size_t begun, std::size_t other) const {
  return other == begun || may_precede(begun, other);
}

/// How many instances of another callback run from the victim's activation, or from the start of
/// its sender, to the victim's start, if this takes at most `x`.
std::int64_t DefaultExecutor::instances(const Direct& direct, std::size_t other, Duration x,
                                        First first) const {
  const Member& member = members_[other];
  const Duration before = first == First::last_epsilon ? epsilon : Duration{0};
  const std::int64_t most =
      std::min(member.busy_activations->count(saturating_add(direct.offset, x)),
               pending(member, saturating_add(x, before)));
  if (!member.task->polled) return most;
  const bool in_first = direct.sender ? runs_from(*direct.sender, other) : first != First::none;
  return std::min(most,
                  saturating_add(direct.points - 1,
                                 (in_first ? 1 : 0) + (may_precede(other, direct.victim) ? 1 : 0)));
}

/// The instances of a job that wait at a polling point do not activate each other: in each window
/// the job has no more of them than `waiting` admits. In the victim's own job, the instances that
/// led to the victim have run.
DefaultExecutor::JobDemand::Root DefaultExecutor::job_demand(const Direct& direct,
                                                             const Jobs::Group& group,
                                                             std::size_t root, First first) const {
  constexpr Duration none{0};
  const auto cost = [&](std::size_t j) {
    return j == direct.victim ? none : members_[j].task->cost(1);
  };
  const auto in_windows = [&](const Jobs::Weight& in_first, const Jobs::Weight& in_others) {
    const Duration whole = jobs().waiting(root, in_others);
    const Duration last = jobs().waiting(
        root, [&](std::size_t j) { return may_precede(j, direct.victim) ? in_others(j) : none; });
    const Duration begun = first == First::none ? Duration{0} : jobs().waiting(root, in_first);
    return saturating_add(saturating_add(begun, last),
                          curves::saturating_multiply(whole, direct.points - 1));
  };
  const auto after_sender = [&](std::size_t j, Duration time) {
    return direct.sender && !runs_from(*direct.sender, j) ? none : time;
  };
  JobDemand::Root demand{.rank = root};
  demand.each = in_windows([&](std::size_t j) { return after_sender(j, cost(j)); }, cost);
  demand.life = jobs().longest_path(root, [&](std::size_t j) { return response(members_[j]); });
  const std::vector<std::size_t> way = jobs().only_way(direct.victim);
  if (group.roots.size() > 1 || way.empty() || way.back() != root) return demand;
  if (way.size() == 1) {
    demand.own = Duration{0};
    return demand;
  }
  const auto has_run = [&](std::size_t j) { return std::ranges::find(way, j) != way.end(); };
  demand.own = in_windows(
      [&](std::size_t j) {
        return has_run(j) && j != direct.sender ? Duration{0} : after_sender(j, cost(j));
      },
      [&](std::size_t j) { return has_run(j) ? Duration{0} : cost(j); });
  return demand;
}

std::vector<DefaultExecutor::JobDemand> DefaultExecutor::job_demands(const Direct& direct,
                                                                     First first) const {
  std::vector<JobDemand> demands;
  for (const Jobs::Group& group : jobs().groups()) {
    JobDemand& demand = demands.emplace_back(JobDemand{.members = group.members, .roots = {}});
    const auto polled = [&](std::size_t j) { return members_[j].task->polled; };
    if (!std::ranges::all_of(group.members, polled)) continue;
    for (const std::size_t root : group.roots) {
      round_.effort.spend(4 * members_.size());
      demand.roots.push_back(job_demand(direct, group, root, first));
    }
  }
  if (demands.empty()) {
    demands.emplace_back();
    for (std::size_t j = 0; j < members_.size(); ++j) demands.back().members.push_back(j);
  }
  return demands;
}

/// The demand of all that goes before the victim, except for instances of its own callback.
Duration DefaultExecutor::demand(const Direct& direct, const std::vector<JobDemand>& jobs,
                                 Duration x, First first) const {
  round_.effort.spend(members_.size());
  Duration sum{0};
  const Duration reach =
      saturating_add(x, first == First::last_epsilon ? Duration{0} : Duration{-epsilon.count()});
  for (const auto& [members, roots] : jobs) {
    Duration by_callbacks{0};
    for (const std::size_t j : members) {
      if (j == direct.victim) continue;
      by_callbacks =
          saturating_add(by_callbacks, members_[j].task->cost(instances(direct, j, x, first)));
    }
    Duration by_jobs = roots.empty() ? unbounded_time : Duration{0};
    for (const JobDemand::Root& root : roots) {
      const curves::DerivedCurve& activations = this->jobs().activations(root.rank);
      std::int64_t alive = activations.count(saturating_add(direct.offset, x));
      if (root.life != unbounded_time)
        alive = std::min(alive, activations.count(reach + root.life));
      const std::int64_t others = std::max<std::int64_t>(0, alive - (root.own ? 1 : 0));
      by_jobs =
          saturating_add(by_jobs, saturating_add(root.own.value_or(Duration{0}),
                                                 curves::saturating_multiply(root.each, others)));
    }
    sum = saturating_add(sum, std::min(by_callbacks, by_jobs));
  }
  return sum;
}

bool DefaultExecutor::seen_when_activated(const Direct& direct) const {
  return !direct.sender && executor_.supply.blackout() == Duration{0} &&
         members_[direct.victim].task->is_source() &&
         std::ranges::all_of(members_, [](const Member& m) { return m.task->polled; });
}

Completion DefaultExecutor::complete(const Direct& direct) const {
  const Cost& cost = members_[direct.victim].task->cost;
  const Duration own = cost(direct.earlier);
  // An activation that is seen at a polling point does not wait for a window that began before;
  // for another one, some ε of that window is over.
  const bool seen = seen_when_activated(direct);
  const First first = seen ? First::last_epsilon : First::all;
  const std::vector<JobDemand> jobs = job_demands(direct, first);
  const std::vector<JobDemand> jobs_without = job_demands(direct, First::none);
  const Duration start =
      curves::least_solution(executor_.supply, epsilon, horizon(), [&](Duration x) {
        const Duration before = demand(direct, jobs, x, first);
        if (!seen || before == unbounded_time) return saturating_add(before, own + epsilon);
        return std::max(before, demand(direct, jobs_without, x, First::none) + epsilon) + own;
      });
  if (start == unbounded_time) return {unbounded_time, unbounded_time};
  return {start, completion(start, cost.marginal(direct.earlier + 1))};
}

LocalBound DefaultExecutor::narrowed(CallbackIndex callback) {
  const std::size_t index = round_.system[callback].rank;
  const Member& self = members_[index];
  const Duration length = busy_window_length();
  const bool known = !self.activations->unbounded() && response(self) != unbounded_time;
  if (!self.task->polled || !known || length == unbounded_time) return {};
  const std::int64_t points = self.activations->count(response(self));
  BusyWindow window = narrowed_window(index, points);
  std::size_t latest_way = 0;
  const auto from_activation = [&](Duration offset) {
    Completion latest{Duration{-1}, Duration{-1}};
    const std::vector<Direct> ways = direct(index, points, window, offset);
    for (std::size_t way = 0; way < ways.size(); ++way) {
      const Completion completion = complete(ways[way]);
      if (completion.finish < latest.finish) continue;
      latest = completion;
      latest_way = way;
    }
    return latest;
  };
  const auto [longest, directly] = window.narrowed_response(length, from_activation);
  LocalBound bound = witnessed(
      "tight", directly ? Equation::from_activation : Equation::narrowed_executor, longest);
  if (directly) {
    from_activation(longest.offset);
    bound.witness.index = latest_way;
  }
  return bound;
}

/// Instances that cannot all go before the victim, because they belong to few jobs, are counted
/// only as far as there is time for them.
Terms DefaultExecutor::direct_terms(const Direct& direct, Duration start) const {
  using Kind = Terms::Kind;
  Terms terms(round_.system);
  const Member& self = members_[direct.victim];
  const Cost& cost = self.task->cost;
  terms.add_cost(Kind::execution, self.callback, cost, direct.earlier, direct.earlier + 1);
  terms.add_cost(Kind::earlier, self.callback, cost, 0, direct.earlier);
  const Duration finish = completion(start, cost.marginal(direct.earlier + 1));
  const First first = seen_when_activated(direct) ? First::last_epsilon : First::all;
  Duration left =
      std::min(finish - terms.total(), demand(direct, job_demands(direct, first), start, first));
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == direct.victim) continue;
    const Member& other = members_[j];
    left = terms.add_within(left, Kind::interference, other.callback, other.task->cost,
                            instances(direct, j, start, first));
  }
  terms.add(Kind::supply, finish - terms.total());
  return terms;
}

}  // namespace takt::analysis
