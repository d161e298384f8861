#include "executors/executor_analysis.hpp"

#include <algorithm>
#include <utility>

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;
using Kind = Terms::Kind;

ExecutorAnalysis::ExecutorAnalysis(const Round& round, ExecutorIndex executor)
    : round_(round), executor_(round.system.executors[executor.value()]) {
  members_.reserve(executor_.callbacks.size());
  for (const CallbackIndex callback : executor_.callbacks) {
    members_.push_back({.callback = callback,
                        .task = &round.system[callback],
                        .activations = &round.curves.activations(callback),
                        .busy_activations = &round.curves.busy_activations(callback)});
  }
  weight_ = members_.size();
}

void ExecutorAnalysis::begin_round() {
  busy_window_length_.reset();
  shares_.clear();
  weight_ = 0;
  for (const Member& each : members_) {
    weight_ += std::max(each.activations->weight(), each.busy_activations->weight());
  }
}

BusyWindow ExecutorAnalysis::window_of_all() const {
  std::vector<Interferer> others;
  others.reserve(members_.size());
  for (std::size_t j = 1; j < members_.size(); ++j) {
    others.push_back(interferer(members_[j], Window::executor));
  }
  return {executor_.supply_from_quiet, limits(), interferer(members_.front(), Window::executor),
          std::move(others)};
}

Duration ExecutorAnalysis::busy_window_length() {
  if (!busy_window_length_) {
    const BusyWindow window = window_of_all();
    busy_window_length_ = ends(window) ? window.length() : unbounded_time;
  }
  return *busy_window_length_;
}

bool ExecutorAnalysis::ends(const BusyWindow& window) const {
  if (shares_.empty()) {
    round_.effort.spend(weight());
    for (const Member& each : members_) {
      shares_.push_back(long_run_share(each.callback, round_.system, round_.curves));
    }
  }
  const auto share = [this](const Interferer& of) {
    return shares_[round_.system[of.callback].rank];
  };
  Int128 demand = share(window.self());
  for (const Interferer& other : window.others()) {
    // A callback whose instances overtake each other interferes with itself.
    if (other.callback != window.self().callback) demand += share(other);
  }
  return demand < supplied_share(executor_.supply);
}

Duration ExecutorAnalysis::blocking(const Member& other, const Member& victim) const {
  const bool has_run = executor_.supply.blackout() == Duration{0} && victim.task->is_source();
  return std::max(Duration{0}, longest_piece(other) - (has_run ? epsilon : Duration{0}));
}

Duration ExecutorAnalysis::longest_piece(const Member& member) const {
  const Duration whole = member.task->cost(1);
  return executor_.longest_piece > Duration{0} ? std::min(whole, executor_.longest_piece) : whole;
}

/// A callback starts after all that had to run for its activation is done, and publishes after it
/// has started.
std::vector<Duration> ExecutorAnalysis::lags(
    const std::function<Curves::Runs(CallbackIndex)>& runs) const {
  std::vector<Duration> lags(members_.size());
  std::vector<Duration> done_at_start(members_.size());
  for (const auto& [kind, index] : executor_.propagation) {
    if (kind != PropagationStep::Kind::activations) continue;
    const Task& task = round_.system.tasks[index];
    const auto from_within = [&](std::size_t e) {
      const TriggerEdge& edge = round_.system.edges[e];
      return edge.local && runs(edge.from) == Curves::Runs::always;
    };
    round_.effort.spend(1 + task.incoming.size());
    if (task.is_source() || task.own || !std::ranges::all_of(task.incoming, from_within)) continue;
    Duration lag = unbounded_time;
    Duration done = unbounded_time;
    for (const std::size_t e : task.incoming) {
      const Task& sender = round_.system[round_.system.edges[e].from];
      const Duration at_start = done_at_start[sender.rank];
      lag = std::min(lag, at_start);
      done = std::min(done, saturating_add(at_start, sender.cost.least_marginal()));
    }
    lags[task.rank] = lag;
    done_at_start[task.rank] = done;
  }
  return lags;
}

LocalBound ExecutorAnalysis::sum_of_callbacks(std::span<const CallbackIndex> chain) const {
  Duration sum{0};
  for (const CallbackIndex callback : chain) {
    sum = saturating_add(sum, round_.response[callback.value()]);
  }
  return {.response = sum, .witness = {.by = "sum_of_callbacks"}};
}

Terms ExecutorAnalysis::explain(std::span<const CallbackIndex> chain,
                                const LocalBound& bound) const {
  Terms sum(round_.system);
  switch (bound.witness.equation) {
    case Witness::Equation::sum_of_callbacks:
      for (const CallbackIndex callback : chain) {
        sum.append(explain(std::span(&callback, 1), {.response = round_.response[callback.value()],
                                                     .witness = round_.witness[callback.value()]}));
      }
      return sum;
    case Witness::Equation::exploration:
      for (const CallbackIndex callback : chain) {
        sum.add_longest(Kind::execution, callback, member(callback).task->cost, 1);
      }
      return sum;
    default:
      return terms(chain, bound);
  }
}

namespace {

Duration releases_within(const BusyWindow& window, Duration length) {
  const Interferer& releases = *window.releases();
  return (*releases.cost)(releases.activations->count(length));
}

}  // namespace

Terms ExecutorAnalysis::terms_of_instance(const BusyWindow& window, const Witness& witness,
                                          Duration elapsed,
                                          std::span<const CallbackIndex> own) const {
  Terms terms(round_.system);
  const Interferer& self = window.self();
  const std::int64_t earlier = window.earlier(witness.offset);
  terms.add_cost(Kind::execution, self.callback, *self.cost, earlier, earlier + 1);
  terms.add_cost(Kind::earlier, self.callback, *self.cost, 0, earlier);
  for (const Interferer& other : window.others()) {
    const std::int64_t instances =
        std::min(other.activations->count(witness.start), other.most(witness.offset));
    const bool is_own = std::ranges::find(own, other.callback) != own.end();
    if (is_own) {
      terms.add_cost(Kind::execution, other.callback, *other.cost, instances - 1, instances);
    }
    const bool earlier_own = is_own || other.callback == self.callback;
    terms.add_cost(earlier_own ? Kind::earlier : Kind::interference, other.callback, *other.cost, 0,
                   instances - (is_own ? 1 : 0));
  }
  const Blocking blocking = window.blockers().at(witness.offset);
  terms.add(Kind::blocking, blocking.time, blocking.callback, 1);
  if (window.releases()) {
    terms.add(Kind::releases, releases_within(window, witness.start) + window.last_cost(earlier) -
                                  self.cost->marginal(earlier + 1));
  }
  terms.add(Kind::supply, completion(witness.start, window.last_cost(earlier)) - terms.total());
  terms.add(Kind::elapsed, -elapsed);
  return terms;
}

Terms ExecutorAnalysis::terms_of_length(const BusyWindow& window, Duration length,
                                        CallbackIndex victim, Duration rounding) const {
  Terms terms(round_.system);
  const auto add = [&](const Interferer& interferer) {
    const std::int64_t instances = interferer.activations->count(length);
    const bool itself = interferer.callback == victim;
    const std::int64_t before = instances - (itself ? 1 : 0);
    if (itself) {
      terms.add_cost(Kind::execution, interferer.callback, *interferer.cost, before, instances);
    }
    terms.add_cost(itself ? Kind::earlier : Kind::interference, interferer.callback,
                   *interferer.cost, 0, before);
  };
  add(window.self());
  std::ranges::for_each(window.others(), add);
  const Blocking blocking = window.blockers().longest();
  terms.add(Kind::blocking, blocking.time, blocking.callback, 1);
  if (window.releases()) terms.add(Kind::releases, releases_within(window, length));
  terms.add(Kind::rounding, rounding);
  terms.add(Kind::supply, length - terms.total());
  return terms;
}

/// Let R be the bound and r the longest time in which ET_i(1) is supplied. The instance activated
/// at offset ε starts at S and finishes at z <= R + ε, S >= z - r, and by Lemma 17
///
///   sbf(z) >= blocking + ET_i(η_i(ε)) + Σ ET_j(min(η_j(S), limit_j(ε))).
///
/// With lines in place of curves the demand rises more slowly with z than the supply, or the window
/// would not end. So the inequality holds for R + ε if it holds for z.
Int128 ExecutorAnalysis::long_run_response(const BusyWindow& window, Window which,
                                           const LongRunPoint& point) const {
  const CallbackIndex victim = window.self().callback;
  const Duration last = executor_.supply.time_for((*window.self().cost)(1));
  const Int128 response = point.response(victim);
  if (last == unbounded_time || response < point.time(last)) return 0;
  const auto demand = [&](const Interferer& of, Int128 x) {
    return point.demand(of.callback, x, which == Window::executor);
  };
  const Int128 supplied = supplied_share(executor_.supply);
  Int128 sum = point.demand(window.blockers().at(epsilon).time) + demand(window.self(), 0) -
               (point.time(epsilon) * supplied);
  for (const Interferer& other : window.others()) {
    Int128 need = demand(other, response - point.time(last));
    if (other.limit) {
      Int128 most = 0;
      if (other.limit->reach >= Duration{0}) most = demand(other, point.time(other.limit->reach));
      // Only polling points let more of them go before.
      if (other.limit->extra > 0) {
        most += point.demand_at_cost(victim, response, long_run_cost(*other.cost));
        if (may_precede(round_.system[other.callback].place, round_.system[victim].place)) {
          most += point.one_instance(other.callback);
        }
      }
      need = std::min(need, most);
    }
    sum += need;
  }
  return std::max(Int128{0}, sum / supplied);
}

}  // namespace takt::analysis
