#include "default_executor.hpp"

#include <algorithm>
#include <utility>

#include "long_run.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

namespace {

/// Between two looks at what a bound of the round-robin analysis tends to, which cost as much as
/// some steps of it.
constexpr int steps_per_long_run = 24;

}  // namespace

DefaultExecutor::DefaultExecutor(const Round& round, ExecutorIndex executor)
    : ExecutorAnalysis(round, executor), memory_(members_.size()), sweep_(executor_.supply) {
  if (round.options.method == Method::busy_window) return;
  const std::size_t each = members_.size() - 1;
  others_.reserve(members_.size() * each);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    add_others(i, others_);
    memory_[i].round_robin = round_robin(i, std::span(others_).last(each));
  }
}

void DefaultExecutor::begin_round() {
  ExecutorAnalysis::begin_round();
  swept_.reset();
  for (Memory& memory : memory_) {
    memory.busy_window = epsilon;
    memory.longest = false;
  }
  Duration once{0};
  for (const Member& member : members_) {
    if (!member.activations->empty()) once = saturating_add(once, member.task->cost(1));
  }
  all_once_ = executor_.supply.time_for(once);
}

/// An instance may find all others pending, and both theorems admit each at least once.
Duration DefaultExecutor::least_bound(CallbackIndex callback) const {
  const Task& task = round_.system[callback];
  return task.polled && all_once_ <= horizon() ? std::max(epsilon, all_once_) : epsilon;
}

std::int64_t DefaultExecutor::polling_points(const Member& member) const {
  return member.task->polled ? member.activations->count(response(member)) : 0;
}

LocalBound DefaultExecutor::bound(CallbackIndex callback) {
  const std::size_t index = round_.system[callback].rank;
  const Member& member = members_[index];
  if (member.activations->unbounded()) return {};
  if (!member.task->polled) {
    return {
        .response = privileged(index),
        .by = executor_.kind == model::ExecutorKind::event_source ? "event_source" : "privileged"};
  }
  return polled(index);
}

LocalBound DefaultExecutor::polled(std::size_t index) {
  const Member& member = members_[index];
  const bool by_points = round_.options.method != Method::busy_window;
  const bool by_windows =
      round_.options.method != Method::round_robin && busy_window_length() != unbounded_time;
  if (by_points) memory_[index].round_robin->renew_others();
  if (!by_points && !by_windows) return {};
  // The bound stands on both sides of both theorems. It rises to the lesser of what they say, and
  // neither is followed further than the other one admits.
  Duration bound = response(member);
  while (bound <= horizon()) {
    Duration longest = unbounded_time;
    if (by_windows) {
      longest = busy_window(index, member.activations->count(bound), bound + epsilon);
      if (longest <= bound) return {.response = bound, .by = "busy_window"};
    }
    const Duration risen = by_points ? rise(index, bound, longest) : longest;
    if (risen < longest) return {.response = risen, .by = "round_robin"};
    bound = longest;
  }
  return {};
}

Duration DefaultExecutor::rise(std::size_t index, Duration present, Duration limit) {
  Memory& memory = memory_[index];
  RoundRobin& search = *memory.round_robin;
  const DerivedCurve& activations = *members_[index].activations;
  Duration bound = present;
  auto points = activations.plateau(bound);
  while (bound <= std::min(limit, horizon()) && search.start() <= horizon()) {
    if (bound > points.until) points = activations.plateau(bound);
    search.renew(bound, points.count);
    const bool moved = search.advance();
    if (const Duration next = search.response(); next > bound) {
      bound = next;
      // As long as nothing else bounds it, it may grow for ever, or slowly to where it ends.
      if (limit == unbounded_time &&
          (++memory.grown % steps_per_long_run == 0 || bound > horizon())) {
        bound = std::max(bound, least_round_robin(index, std::min(bound, curves::longest_time)));
      }
    } else if (!moved) {
      return bound;
    }
  }
  return unbounded_time;
}

LocalBound DefaultExecutor::bound(std::span<const CallbackIndex> chain) {
  std::int64_t points = 0;
  for (const CallbackIndex callback : chain) {
    const Member& member = members_[round_.system[callback].rank];
    if (member.activations->unbounded() || response(member) == unbounded_time) return {};
    points = saturating_add(points, polling_points(member));
  }
  const std::size_t last = round_.system[chain.back()].rank;
  LocalBound best;
  if (round_.options.method != Method::round_robin) {
    best = {.response = busy_window_of_chain(last, points), .by = "busy_window"};
  }
  if (round_.options.method != Method::busy_window) {
    std::vector<RoundRobin::Other> others;
    add_others(last, others);
    RoundRobin search = round_robin(last, others);
    search.renew_others();
    search.renew(response(members_[last]), points);
    const Duration bound = search.longest_response(std::min(best.response, horizon()));
    if (bound < best.response) best = {.response = bound, .by = "round_robin"};
  }
  return best;
}

std::int64_t DefaultExecutor::extra_instances(std::size_t other, std::size_t last) const {
  // A polled callback runs once for each polling point, and once more if it precedes the victim in
  // its last processing window.
  if (!members_[other].task->polled) return curves::unbounded_count;
  return other < last ? 1 : 0;
}

RoundRobin DefaultExecutor::round_robin(std::size_t index,
                                        std::span<RoundRobin::Other> others) const {
  const Member& self = members_[index];
  return {executor_.supply, self.task->cost, *self.activations, others};
}

void DefaultExecutor::add_others(std::size_t index, std::vector<RoundRobin::Other>& others) const {
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == index) continue;
    others.push_back({.cost = &members_[j].task->cost,
                      .response = &round_.response[members_[j].callback.value()],
                      .activated = GrowingCount(*members_[j].activations),
                      .extra = extra_instances(j, index)});
  }
}

Duration DefaultExecutor::least_round_robin(std::size_t index, Duration present) {
  const Member& self = members_[index];
  const Duration last = executor_.supply.time_for(self.task->cost(1));
  if (last == unbounded_time) return last;
  const Line own = demand_line(*self.activations, self.task->cost);
  Wide demand = own(2 * present - last - epsilon);
  Wide slope = 2 * own.slope;
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == index) continue;
    const Member& other = members_[j];
    const Line admitted = demand_line(*self.activations, other.task->cost);
    const Wide most = admitted(present) + (j < index ? long_run_cost(other.task->cost) : Wide{0});
    if (other.activations->unbounded() || response(other) == unbounded_time) {
      demand += most;
      slope += admitted.slope;
      continue;
    }
    const Line line = demand_line(*other.activations, other.task->cost);
    const Wide pending = line(present - last + response(other) - epsilon);
    demand += other.task->polled ? std::min(pending, most) : pending;
    slope += other.task->polled ? std::min(line.slope, admitted.slope) : line.slope;
  }
  const Wide supplied = supplied_share(executor_.supply);
  const Wide missing = demand - supplied * present.count();
  if (missing <= 0) return present;
  if (slope >= supplied) {
    memory_[index].divergence = Utilisation{
        .demand = in_processors(slope), .supply = in_processors(supplied), .overloaded = true};
    return unbounded_time;
  }
  const Wide growth = missing / (supplied - slope);
  if (growth > horizon().count()) return unbounded_time;
  return present + Duration{static_cast<std::int64_t>(growth)};
}

std::optional<Utilisation> DefaultExecutor::divergence(CallbackIndex callback) const {
  return memory_[round_.system[callback].rank].divergence;
}

/// Def. 8: polled callbacks run no more often than they were activated before the victim and there
/// are polling points after, and once more if they precede it.
Interferer DefaultExecutor::limited_interferer(std::size_t other, std::size_t last,
                                               std::int64_t points) const {
  Interferer interferer = busy_interferer(members_[other]);
  if (members_[other].task->polled) {
    interferer.limit = {.reach = Duration{0},
                        .extra = saturating_add(points, extra_instances(other, last))};
  }
  return interferer;
}

BusyWindow DefaultExecutor::window_of(std::size_t index, std::int64_t points) const {
  std::vector<Interferer> others;
  others.reserve(members_.size());
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j != index) others.push_back(limited_interferer(j, index, points));
  }
  return {executor_.supply, horizon(), Duration{0}, busy_interferer(members_[index]),
          std::move(others)};
}

Duration DefaultExecutor::busy_window(std::size_t index, std::int64_t points, Duration enough) {
  Memory& memory = memory_[index];
  if (memory.polling_points != points) memory.longest = false;
  memory.polling_points = points;
  if (memory.longest || memory.busy_window >= enough) return memory.busy_window;
  if (swept_ == index && sweep_.at_first_offset()) {
    sweep_.admit(points - swept_points_);
  } else if (swept_ != index || swept_points_ != points) {
    begin_sweep(index, points);
  }
  swept_points_ = points;
  memory.busy_window = sweep_.longest_response(enough);
  if (sweep_.failed()) {
    swept_.reset();
    memory.busy_window = window_of(index, points).search_longest_response(busy_window_length());
  }
  memory.longest = sweep_.failed() || memory.busy_window < enough;
  return memory.busy_window;
}

void DefaultExecutor::begin_sweep(std::size_t index, std::int64_t points) {
  swept_ = index;
  sweep_.begin(Duration{0}, busy_interferer(members_[index]), busy_window_length());
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j != index) sweep_.add(limited_interferer(j, index, points));
  }
}

Duration DefaultExecutor::busy_window_of_chain(std::size_t last, std::int64_t points) {
  const Duration length = busy_window_length();
  if (length == unbounded_time) return length;
  // The chain may have been activated at the very start of the window, whenever its last callback
  // was: the latest completion counts, and completions do not decrease with the offset.
  return window_of(last, points).complete(length - epsilon, epsilon).finish;
}

DefaultExecutor::LevelWindow DefaultExecutor::privileged_window(std::size_t index) const {
  Duration longest_blocking{0};
  std::optional<CallbackIndex> blocker;
  std::vector<Interferer> higher;
  for (std::size_t j = 0; j < members_.size(); ++j) {
    const Member& other = members_[j];
    if (j == index) continue;
    if (j < index && !other.task->polled) {
      higher.push_back({&other.task->cost, other.activations, std::nullopt});
    } else if (const Duration time = blocking(other, members_[index]); time > longest_blocking) {
      longest_blocking = time;
      blocker = other.callback;
    }
  }
  const Interferer self{&members_[index].task->cost, members_[index].activations, std::nullopt};
  return {{executor_.supply, horizon(), longest_blocking, self, std::move(higher)}, blocker};
}

Duration DefaultExecutor::privileged(std::size_t index) const {
  std::vector<CallbackIndex> level;
  for (std::size_t j = 0; j <= index; ++j) {
    if (!members_[j].task->polled) level.push_back(members_[j].callback);
  }
  if (utilisation(level, executor_.supply, round_.system, round_.curves).overloaded) {
    return unbounded_time;
  }
  BusyWindow window = privileged_window(index).window;
  return window.longest_response(window.length());
}

}  // namespace takt::analysis
