#include "default_executor.hpp"

#include <algorithm>
#include <utility>

#include "least_solution.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

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
    const Duration response = round_robin(index, points, limit, memory_[index].start);
    if (response < best.response) best = {.response = response, .by = "round_robin"};
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
    const Duration response = round_robin(last, points, std::min(best.response, horizon()), start);
    if (response < best.response) best = {.response = response, .by = "round_robin"};
  }
  return best;
}

Duration DefaultExecutor::round_robin(std::size_t last, std::int64_t points, Duration limit,
                                      Duration& start) const {
  const Member& self = members_[last];
  // Lemma 3: pending in a window of length x; at most ε before the response ends.
  const auto pending = [this](const Member& member, Duration x) {
    if (response(member) == unbounded_time) return curves::unbounded_count;
    return member.activations->count(saturating_add(x, response(member)) - epsilon);
  };
  // Def. 4: all of them but the instance itself.
  const auto earlier = [&](Duration x) { return std::max<std::int64_t>(0, pending(self, x) - 1); };
  const auto demand = [&](Duration x) {
    Duration sum = saturating_add(epsilon, self.task->cost(earlier(x)));
    for (std::size_t j = 0; j < members_.size(); ++j) {
      if (j == last) continue;
      const Member& other = members_[j];
      // Def. 3. Lemma 4: a polled callback runs once for each polling point, and once more if it
      // precedes the victim in its last processing window.
      const std::int64_t most =
          other.task->polled ? saturating_add(points, j < last ? 1 : 0) : curves::unbounded_count;
      sum = saturating_add(sum, other.task->cost(std::min(pending(other, x), most)));
    }
    return sum;
  };
  const Duration found = least_solution(executor_.supply, start, limit, demand);
  if (found == unbounded_time) return found;
  start = found;
  const std::int64_t n = earlier(start);
  const Duration last_cost = self.task->cost(n + 1) - self.task->cost(n);  // Lemma 17
  return std::max(epsilon,
                  executor_.supply.time_for(executor_.supply.supply(start) - epsilon + last_cost));
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

Duration DefaultExecutor::privileged(std::size_t index) const {
  Duration longest_blocking{0};
  std::vector<Interferer> higher;
  std::vector<CallbackIndex> level{members_[index].callback};
  for (std::size_t j = 0; j < members_.size(); ++j) {
    const Member& other = members_[j];
    if (j == index) continue;
    if (j < index && !other.task->polled) {
      higher.push_back({&other.task->cost, other.activations, std::nullopt});
      level.push_back(other.callback);
    } else {
      longest_blocking = std::max(longest_blocking, blocking(other, members_[index]));
    }
  }
  if (utilisation(level, executor_.supply, round_.system, round_.curves).overloaded) {
    return unbounded_time;
  }
  const Interferer self{&members_[index].task->cost, members_[index].activations, std::nullopt};
  BusyWindow window(executor_.supply, horizon(), longest_blocking, self, std::move(higher));
  return window.longest_response(window.length());
}

}  // namespace takt::analysis
