#include "default_executor/default_executor.hpp"

#include <algorithm>
#include <utility>

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;
using Equation = Witness::Equation;

namespace {

/// To compute where a round-robin bound tends costs as much as some 20 steps of its search, and few
/// bounds need it.
constexpr int steps_per_long_run = 96;
/// The state that round-robin searches keep of all other callbacks costs memory rather than time:
/// gigabytes from some thousand callbacks on.
constexpr std::size_t effort_of_kept_other = 200;

}  // namespace

DefaultExecutor::DefaultExecutor(const Round& round, ExecutorIndex executor,
                                 std::string_view privileged)
    : ExecutorAnalysis(round, executor),
      privileged_(privileged),
      memory_(members_.size()),
      sweep_(executor_.supply_from_quiet, round.effort) {
  if (round.options.method == Method::busy_window) return;
  const std::size_t each = members_.size() - 1;
  round.effort.spend(each * each * effort_of_kept_other);
  others_.reserve(members_.size() * each);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    add_others(i, others_);
    memory_[i].round_robin = round_robin(i, std::span(others_).last(each));
  }
}

void DefaultExecutor::begin_round() {
  ExecutorAnalysis::begin_round();
  jobs_.reset();
  swept_.reset();
  for (Memory& memory : memory_) {
    memory.busy_window = {.response = epsilon};
    memory.longest = false;
  }
  Duration once{0};
  for (const Member& member : members_) {
    if (!member.activations->empty()) once = saturating_add(once, member.task->cost(1));
  }
  all_once_ = executor_.supply_from_quiet.time_for(once);
}

/// An instance may find all others pending, and both theorems admit each at least once.
Duration DefaultExecutor::least_bound(CallbackIndex callback) const {
  const Task& task = round_.system[callback];
  return task.polled && all_once_ <= horizon() ? std::max(epsilon, all_once_) : epsilon;
}

LocalBound DefaultExecutor::bound(CallbackIndex callback) {
  const std::size_t index = round_.system[callback].rank;
  const Member& member = members_[index];
  if (member.activations->unbounded()) return {};
  if (member.task->polled) return polled(index);
  BusyWindow window = privileged_window(index);
  if (!ends(window)) return {};
  return witnessed(privileged_, Equation::level_window, window.longest_response(window.length()));
}

LocalBound DefaultExecutor::bound(std::span<const CallbackIndex> chain) {
  for (const CallbackIndex callback : chain) {
    const Member& each = member(callback);
    if (each.activations->unbounded() || response(each) == unbounded_time) return {};
  }
  const std::int64_t points = polling_points(chain);
  const std::size_t last = round_.system[chain.back()].rank;
  LocalBound best;
  if (round_.options.method != Method::round_robin) best = busy_window_of_chain(last, points);
  if (round_.options.method != Method::busy_window) {
    std::vector<RoundRobin::Other> others;
    add_others(last, others);
    RoundRobin search = round_robin(last, others);
    search.renew_others();
    search.renew(response(members_[last]), points);
    const Duration bound = search.longest_response(std::min(best.response, horizon()));
    best.take_lower(
        {.response = bound,
         .witness = {
             .by = "round_robin", .equation = Equation::round_robin, .start = search.start()}});
  }
  return best;
}

LocalBound DefaultExecutor::polled(std::size_t index) {
  const Member& member = members_[index];
  std::optional<RoundRobin>& search = memory_[index].round_robin;
  const bool by_windows =
      round_.options.method != Method::round_robin && busy_window_length() != unbounded_time;
  round_.effort.spend_on_pass(members_.size(), 0);
  if (search) search->renew_others();
  if (!search && !by_windows) return {};
  // The bound stands on both sides of both theorems. It rises to the lesser of their results, and
  // neither search goes further than the result of the other.
  Duration bound = response(member);
  while (bound <= horizon()) {
    LongestResponse longest;
    if (by_windows) {
      longest = busy_window(index, polling_points(member, bound), bound + epsilon);
      if (longest.response <= bound) {
        longest.response = bound;
        return witnessed("busy_window", Equation::executor_window, longest);
      }
    }
    const Duration risen = search ? rise(index, bound, longest.response) : longest.response;
    if (risen < longest.response) {
      return {
          .response = risen,
          .witness = {
              .by = "round_robin", .equation = Equation::round_robin, .start = search->start()}};
    }
    bound = longest.response;
  }
  return {};
}

std::int64_t DefaultExecutor::polling_points(std::span<const CallbackIndex> chain) const {
  std::int64_t points = 0;
  for (const CallbackIndex callback : chain) {
    const Member& each = member(callback);
    if (!each.task->polled) continue;
    points = saturating_add(points, polling_points(each, response(each)));
  }
  return points;
}

std::int64_t DefaultExecutor::polling_points(const Member& member, Duration response) {
  return std::min(member.activations->count(response), depth(member));
}

std::int64_t DefaultExecutor::depth(const Member& member) {
  return displaces(member) ? *member.task->queue_depth : curves::unbounded_count;
}

bool DefaultExecutor::displaces(const Member& member) {
  return member.task->queue_depth.has_value() && !member.task->is_timer;
}

std::int64_t DefaultExecutor::extra_instances(std::size_t other, std::size_t victim) const {
  if (!members_[other].task->polled) return curves::unbounded_count;
  return may_precede(other, victim) ? 1 : 0;
}

bool DefaultExecutor::may_precede(std::size_t one, std::size_t other) const {
  return takt::may_precede(members_[one].task->place, members_[other].task->place);
}

RoundRobin DefaultExecutor::round_robin(std::size_t index,
                                        std::span<RoundRobin::Other> others) const {
  const Member& self = members_[index];
  return {executor_.supply,  round_.effort,   self.task->cost,
          *self.activations, displaces(self), others};
}

void DefaultExecutor::add_others(std::size_t index, std::vector<RoundRobin::Other>& others) const {
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == index) continue;
    others.push_back({.cost = &members_[j].task->cost,
                      .response = &round_.response[members_[j].callback.value()],
                      .activated = curves::GrowingCount(*members_[j].activations),
                      .extra = extra_instances(j, index)});
  }
}

Duration DefaultExecutor::rise(std::size_t index, Duration present, Duration limit) {
  Memory& memory = memory_[index];
  RoundRobin& search = *memory.round_robin;
  const curves::DerivedCurve& activations = *members_[index].activations;
  Duration bound = present;
  auto points = activations.plateau(bound);
  while (bound <= std::min(limit, horizon()) && search.start() <= horizon()) {
    if (bound > points.until) points = activations.plateau(bound);
    search.renew(bound, std::min(points.count, depth(members_[index])));
    const bool moved = search.advance();
    if (const Duration next = search.response(); next > bound) {
      bound = next;
      // If nothing else bounds it, it may grow for ever, or slowly to where it ends.
      if (limit == unbounded_time &&
          (++memory.grown % steps_per_long_run == 0 || bound > horizon())) {
        bound = std::max(bound, long_run_round_robin(index, std::min(bound, curves::longest_time)));
      }
    } else if (!moved) {
      return bound;
    }
  }
  return unbounded_time;
}

/// Def. 8: a polled callback runs at most as often as it was activated before the victim and there
/// are polling points after, and once more if it precedes the victim.
Interferer DefaultExecutor::limited_interferer(std::size_t other, std::size_t victim,
                                               std::int64_t points) const {
  Interferer limited = interferer(members_[other], Window::executor);
  if (members_[other].task->polled) {
    limited.limit = {.reach = Duration{0},
                     .extra = saturating_add(points, extra_instances(other, victim))};
  }
  return limited;
}

BusyWindow DefaultExecutor::processing_window(std::size_t index, std::int64_t points) const {
  std::vector<Interferer> others;
  others.reserve(members_.size());
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j != index) others.push_back(limited_interferer(j, index, points));
  }
  return {executor_.supply_from_quiet, limits(), interferer(members_[index], Window::executor),
          std::move(others)};
}

LongestResponse DefaultExecutor::busy_window(std::size_t index, std::int64_t points,
                                             Duration enough) {
  Memory& memory = memory_[index];
  if (memory.polling_points != points) memory.longest = false;
  memory.polling_points = points;
  if (memory.longest || memory.busy_window.response >= enough) return memory.busy_window;
  if (swept_ == index && sweep_.at_first_offset()) {
    sweep_.admit(points - swept_points_);
  } else if (swept_ != index || swept_points_ != points) {
    begin_sweep(index, points);
  }
  swept_points_ = points;
  memory.busy_window = sweep_.longest_response(enough);
  if (sweep_.failed()) {
    swept_.reset();
    memory.busy_window =
        processing_window(index, points).search_longest_response(busy_window_length());
  }
  memory.longest = sweep_.failed() || memory.busy_window.response < enough;
  return memory.busy_window;
}

void DefaultExecutor::begin_sweep(std::size_t index, std::int64_t points) {
  swept_ = index;
  sweep_.begin({}, interferer(members_[index], Window::executor), busy_window_length());
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j != index) sweep_.add(limited_interferer(j, index, points));
  }
}

LocalBound DefaultExecutor::busy_window_of_chain(std::size_t last, std::int64_t points) {
  const Duration length = busy_window_length();
  if (length == unbounded_time) return {};
  // The chain may have been activated at the very beginning of the window, whenever its last
  // callback was: the latest completion counts, and completions do not decrease with the offset.
  const Duration offset = length - epsilon;
  const Completion latest = processing_window(last, points).complete(offset, epsilon);
  return witnessed("busy_window", Equation::executor_window,
                   {.response = latest.finish, .offset = offset, .start = latest.start});
}

BusyWindow DefaultExecutor::privileged_window(std::size_t index) const {
  Blocking longest;
  std::vector<Interferer> higher;
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == index) continue;
    if (may_precede(j, index) && !members_[j].task->polled) {
      higher.push_back(interferer(members_[j], Window::level));
    } else {
      longest.take_longer(blocking(members_[j], members_[index]), members_[j].callback);
    }
  }
  return {executor_.supply_from_quiet, limits(), interferer(members_[index], Window::level),
          std::move(higher), Blockers(longest)};
}

Terms DefaultExecutor::terms(std::span<const CallbackIndex> chain, const LocalBound& bound) const {
  const std::size_t last = round_.system[chain.back()].rank;
  const Witness& witness = bound.witness;
  if (witness.equation == Equation::level_window) {
    return terms_of_instance(privileged_window(last), witness, witness.offset);
  }
  const std::int64_t points = polling_points(chain);
  if (witness.equation == Equation::round_robin) return round_robin_terms(last, points, witness);
  // How many polling points there are by the callback's activations alone.
  const std::int64_t activated = members_[last].activations->count(response(members_[last]));
  if (witness.equation == Equation::narrowed_executor) {
    return terms_of_instance(narrowed_window(last, activated), witness, witness.offset);
  }
  if (witness.equation == Equation::from_activation) {
    const BusyWindow window = narrowed_window(last, activated);
    return direct_terms(direct(last, activated, window, witness.offset)[witness.index],
                        witness.start);
  }
  // A chain may have been activated at the beginning of the window.
  return terms_of_instance(processing_window(last, points), witness,
                           chain.size() == 1 ? witness.offset : Duration{0});
}

Terms DefaultExecutor::round_robin_terms(std::size_t last, std::int64_t points,
                                         const Witness& witness) const {
  using Kind = Terms::Kind;
  Terms terms(round_.system);
  const Member& self = members_[last];
  const Cost& cost = self.task->cost;
  std::int64_t earlier = std::max<std::int64_t>(0, pending(self, witness.start) - 1);
  if (displaces(self)) earlier = std::min(earlier, points);
  terms.add_cost(Kind::execution, self.callback, cost, earlier, earlier + 1);
  terms.add_cost(Kind::earlier, self.callback, cost, 0, earlier);
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == last) continue;
    terms.add_cost(Kind::interference, members_[j].callback, members_[j].task->cost, 0,
                   std::min(pending(members_[j], witness.start),
                            saturating_add(points, extra_instances(j, last))));
  }
  // Its window begins at the activation, whatever others have left over then.
  const Duration finish = executor_.supply.time_for(executor_.supply.supply(witness.start) -
                                                    epsilon + cost.marginal(earlier + 1));
  terms.add(Kind::supply, finish - terms.total());
  return terms;
}

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
/// The last slope is the share supplied, less twice the callback's own share (it waits for what was
/// activated during a response time before it and during its own), less for each other callback the
/// share at its own or at the victim's rate (one instance for each polling point), whichever is
/// lower. docs/analysis-theory.md says what this test decides.
///
/// Where messages displace others nothing grows with y, and nothing is said.
Duration DefaultExecutor::long_run_round_robin(std::size_t index, Duration present) {
  const Member& self = members_[index];
  if (displaces(self)) return present;
  const Duration last = executor_.supply.time_for(self.task->cost(1));
  if (last == unbounded_time) return last;
  const Line own = demand_line(*self.activations, self.task->cost);
  Int128 demand = own(2 * present - last - epsilon);
  Int128 slope = 2 * own.slope;
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == index) continue;
    const Member& other = members_[j];
    const Line admitted = demand_line(*self.activations, other.task->cost);
    const Int128 most =
        admitted(present) + (may_precede(j, index) ? long_run_cost(other.task->cost) : Int128{0});
    if (other.activations->unbounded() || response(other) == unbounded_time) {
      demand += most;
      slope += admitted.slope;
      continue;
    }
    const Line line = demand_line(*other.activations, other.task->cost);
    const Int128 pending = line(present - last + response(other) - epsilon);
    demand += other.task->polled ? std::min(pending, most) : pending;
    slope += other.task->polled ? std::min(line.slope, admitted.slope) : line.slope;
  }
  const Int128 supplied = supplied_share(executor_.supply);
  const Int128 missing = demand - supplied * present.count();
  if (missing <= 0) return present;
  if (slope >= supplied) {
    memory_[index].divergence = Utilisation{
        .demand = in_processors(slope), .supply = in_processors(supplied), .overloaded = true};
    return unbounded_time;
  }
  const Int128 growth = missing / (supplied - slope);
  if (growth > horizon().count()) return unbounded_time;
  return present + Duration{static_cast<std::int64_t>(growth)};
}

Int128 DefaultExecutor::long_run_round_robin(std::size_t index, const LongRunPoint& point) const {
  const Member& self = members_[index];
  const Duration last = executor_.supply.time_for(self.task->cost(1));
  const Int128 present = point.response(self.callback);
  if (displaces(self)) return 0;
  if (last == unbounded_time || present < point.time(last)) return 0;
  const Int128 start = present - point.time(last);
  const Int128 before = point.time(epsilon);
  Int128 sum = point.demand(self.callback, std::max(Int128{0}, start + present - before));
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == index) continue;
    const Member& other = members_[j];
    Int128 admitted = point.demand_at_cost(self.callback, present, long_run_cost(other.task->cost));
    if (may_precede(j, index)) admitted += point.one_instance(other.callback);
    if (response(other) == unbounded_time || other.activations->unbounded()) {
      sum += admitted;
      continue;
    }
    const Int128 pending = point.demand(
        other.callback, std::max(Int128{0}, start + point.response(other.callback) - before));
    sum += other.task->polled ? std::min(pending, admitted) : pending;
  }
  return sum / supplied_share(executor_.supply);
}

Int128 DefaultExecutor::long_run_response(CallbackIndex callback, const LongRunPoint& point) {
  const std::size_t index = round_.system[callback].rank;
  if (!members_[index].task->polled) {
    return ExecutorAnalysis::long_run_response(privileged_window(index), Window::level, point);
  }
  const bool by_points = round_.options.method != Method::busy_window;
  const bool by_windows =
      round_.options.method != Method::round_robin && busy_window_length() != unbounded_time;
  if (!by_points && !by_windows) return 0;
  Int128 least = by_points ? long_run_round_robin(index, point) : LongRunPoint::most();
  if (by_windows) {
    const BusyWindow window = processing_window(index, polling_points(std::span(&callback, 1)));
    least = std::min(least, ExecutorAnalysis::long_run_response(window, Window::executor, point));
  }
  return least;
}

std::optional<Reason> DefaultExecutor::divergence(CallbackIndex callback) const {
  const auto& divergence = memory_[round_.system[callback].rank].divergence;
  if (!divergence) return std::nullopt;
  return Reason{.text =
                    "with what its processing windows admit, \"{callback}\" needs {demand} of a "
                    "processor by the round-robin analysis, executor \"{executor}\" gives "
                    "{supply}",
                .utilisation = *divergence};
}

std::unique_ptr<ExecutorAnalysis> make_single_threaded(const Round& round, ExecutorIndex executor) {
  return std::make_unique<DefaultExecutor>(round, executor, "privileged");
}

std::unique_ptr<ExecutorAnalysis> make_event_source(const Round& round, ExecutorIndex executor) {
  return std::make_unique<DefaultExecutor>(round, executor, "event_source");
}

}  // namespace takt::analysis
