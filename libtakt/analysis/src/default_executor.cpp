#include "default_executor.hpp"

#include <algorithm>
#include <utility>

#include "least_solution.hpp"
#include "long_run.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

namespace {

/// Between two looks at what the bounds of the round-robin analysis tend to, which cost as much as
/// some rounds of it.
constexpr int rounds_per_long_run = 8;

}  // namespace

DefaultExecutor::DefaultExecutor(const Round& round, ExecutorIndex executor)
    : ExecutorAnalysis(round, executor), memory_(members_.size()) {}

void DefaultExecutor::begin_round() {
  ExecutorAnalysis::begin_round();
  for (Memory& memory : memory_) memory.polling_points.reset();
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
  const std::int64_t points = polling_points(member);
  LocalBound best;
  if (round_.options.method != Method::round_robin) {
    best = {.response = busy_window(index, points), .by = "busy_window"};
  }
  if (round_.options.method != Method::busy_window) {
    const Duration limit = std::min(best.response, horizon());
    Memory& memory = memory_[index];
    Duration bound = round_robin(index, points, limit, memory.start);
    // As long as nothing else bounds it, it may grow for ever, or slowly to where it ends.
    if (best.response == unbounded_time && bound != unbounded_time && bound > response(member) &&
        ++memory.grown % rounds_per_long_run == 0) {
      bound = std::max(bound, least_round_robin(index));
    }
    if (bound < best.response) best = {.response = bound, .by = "round_robin"};
  }
  return best;
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
    Duration start = epsilon;
    const Duration bound = round_robin(last, points, std::min(best.response, horizon()), start);
    if (bound < best.response) best = {.response = bound, .by = "round_robin"};
  }
  return best;
}

std::int64_t DefaultExecutor::most_instances(std::size_t other, std::size_t last,
                                             std::int64_t points) const {
  // A polled callback runs once for each polling point, and once more if it precedes the victim in
  // its last processing window.
  if (!members_[other].task->polled) return curves::unbounded_count;
  return saturating_add(points, other < last ? 1 : 0);
}

Duration DefaultExecutor::round_robin(std::size_t last, std::int64_t points, Duration limit,
                                      Duration& start) {
  if (start > limit) return unbounded_time;
  const Member& self = members_[last];
  // Lemma 3 and Def. 4: pending in a window of length x, at most ε before the response ends, are
  // all of these but the instance itself.
  const Duration own_reach = response(self) - epsilon;
  const auto earlier = [&](Duration x) {
    return std::max<std::int64_t>(0, self.activations->count(saturating_add(x, own_reach)) - 1);
  };
  // Def. 3. Lemma 4: a polled callback runs once for each polling point, and once more if it
  // precedes the victim in its last processing window. Most do so from the start.
  Duration constant = epsilon;
  Duration at_start = self.task->cost(earlier(start));
  pending_.clear();
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == last) continue;
    const Member& other = members_[j];
    const std::int64_t most = most_instances(j, last, points);
    const Duration reach = response(other) - epsilon;
    const std::int64_t pending =
        response(other) == unbounded_time
            ? most
            : other.activations->count_up_to(most, saturating_add(start, reach));
    const Duration cost = other.task->cost(pending);
    if (pending == most) {
      constant = saturating_add(constant, cost);
    } else {
      at_start = saturating_add(at_start, cost);
      pending_.push_back({&other.task->cost, other.activations, reach, most});
    }
  }
  const auto demand = [&](Duration x) {
    Duration sum = saturating_add(constant, self.task->cost(earlier(x)));
    for (const auto& [cost, activations, reach, most] : pending_) {
      sum = saturating_add(sum, (*cost)(activations->count_up_to(most, saturating_add(x, reach))));
    }
    return sum;
  };
  Duration found = executor_.supply.time_for(saturating_add(constant, at_start));
  found = found <= start ? start : least_solution(executor_.supply, found, limit, demand);
  if (found == unbounded_time) {
    start = saturating_add(limit, epsilon);
    return found;
  }
  start = found;
  const std::int64_t n = earlier(start);
  const Duration last_cost = self.task->cost(n + 1) - self.task->cost(n);  // Lemma 17
  return std::max(epsilon,
                  executor_.supply.time_for(executor_.supply.supply(start) - epsilon + last_cost));
}

Duration DefaultExecutor::least_round_robin(std::size_t index) {
  const Member& self = members_[index];
  const Duration present = response(self);
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
BusyWindow DefaultExecutor::window_of(std::size_t index, std::int64_t points) const {
  std::vector<Interferer> others;
  others.reserve(members_.size());
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == index) continue;
    others.push_back(busy_interferer(members_[j]));
    if (!members_[j].task->polled) continue;
    others.back().limit = {.reach = Duration{0}, .extra = saturating_add(points, j < index)};
  }
  return {executor_.supply, horizon(), Duration{0}, busy_interferer(members_[index]),
          std::move(others)};
}

Duration DefaultExecutor::busy_window(std::size_t index, std::int64_t points) {
  Memory& memory = memory_[index];
  if (memory.polling_points == points) return memory.busy_window;
  memory.polling_points = points;
  memory.busy_window = busy_window_length() == unbounded_time
                           ? unbounded_time
                           : window_of(index, points).longest_response(busy_steps());
  return memory.busy_window;
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
