#include "default_executor.hpp"

#include <algorithm>

#include "least_solution.hpp"
#include "offset_search.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

namespace {

/// The cost of at most `activations` and at most `most` instances.
Duration cost_of(const Cost& cost, std::int64_t activations, std::int64_t most) {
  return cost(std::min(activations, most));
}

}  // namespace

DefaultExecutor::DefaultExecutor(const System& system, ExecutorIndex executor, const Curves& curves,
                                 const std::vector<Duration>& response, const Options& options)
    : system_(system),
      executor_(system.executors[executor.value()]),
      curves_(curves),
      response_(response),
      options_(options) {
  members_.reserve(executor_.callbacks.size());
  for (const CallbackIndex callback : executor_.callbacks) {
    members_.push_back({.callback = callback,
                        .cost = &system[callback].cost,
                        .activations = &curves.activations(callback),
                        .busy_activations = &curves.busy_activations(callback),
                        .polled = system[callback].polled,
                        .cached_for = std::nullopt});
  }
}

void DefaultExecutor::begin_round() {
  busy_window_length_.reset();
  for (Member& member : members_) member.cached_for.reset();
}

std::int64_t DefaultExecutor::polling_points(const Member& member) const {
  return member.polled ? member.activations->count(response(member)) : 0;
}

LocalBound DefaultExecutor::bound(CallbackIndex callback) {
  const std::size_t index = system_[callback].rank;
  const Member& member = members_[index];
  if (member.activations->unbounded()) return {};
  if (!member.polled) {
    return {
        .response = privileged(index),
        .by = executor_.kind == model::ExecutorKind::event_source ? "event_source" : "privileged"};
  }
  const std::int64_t points = polling_points(member);
  LocalBound best;
  if (options_.method != Method::round_robin) {
    best = {.response = busy_window(index, points), .by = "busy_window"};
  }
  if (options_.method != Method::busy_window) {
    const Duration limit = std::min(best.response, horizon());
    const Duration response = round_robin(index, points, limit, members_[index].start);
    if (response < best.response) best = {.response = response, .by = "round_robin"};
  }
  return best;
}

LocalBound DefaultExecutor::bound(std::span<const CallbackIndex> chain) {
  std::int64_t points = 0;
  for (const CallbackIndex callback : chain) {
    const Member& member = members_[system_[callback].rank];
    if (member.activations->unbounded() || response(member) == unbounded_time) return {};
    points = saturating_add(points, polling_points(member));
  }
  const std::size_t last = system_[chain.back()].rank;
  LocalBound best;
  if (options_.method != Method::round_robin) {
    best = {.response = busy_window_of_chain(last, points), .by = "busy_window"};
  }
  if (options_.method != Method::busy_window) {
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
    Duration sum = saturating_add(epsilon, (*self.cost)(earlier(x)));
    for (std::size_t j = 0; j < members_.size(); ++j) {
      if (j == last) continue;
      const Member& other = members_[j];
      // Def. 3. Lemma 4: a polled callback runs once for each polling point, and once more if it
      // precedes the victim in its last processing window.
      const std::int64_t most =
          other.polled ? saturating_add(points, j < last ? 1 : 0) : curves::unbounded_count;
      sum = saturating_add(sum, cost_of(*other.cost, pending(other, x), most));
    }
    return sum;
  };
  const Duration found = least_solution(executor_.supply, start, limit, demand);
  if (found == unbounded_time) return found;
  start = found;
  const std::int64_t n = earlier(start);
  const Duration last_cost = (*self.cost)(n + 1) - (*self.cost)(n);  // Lemma 17
  return std::max(epsilon,
                  executor_.supply.time_for(executor_.supply.supply(start) - epsilon + last_cost));
}

/// Theorem 3: I^b (Def. 8) is the busy-window demand of the others, limited by the polling points
/// after the activation.
class DefaultExecutor::BusyWindowCompletion {
 public:
  BusyWindowCompletion(const DefaultExecutor& executor, std::size_t self, std::int64_t points)
      : executor_(executor), self_(self), points_(points), most_(executor.members_.size()) {}

  Completion operator()(Duration offset, Duration start) {
    const auto& members = executor_.members_;
    const Member& self = members[self_];
    for (std::size_t j = 0; j < members.size(); ++j) {
      most_[j] = members[j].polled ? saturating_add(members[j].busy_activations->count(offset),
                                                    saturating_add(points_, j < self_ ? 1 : 0))
                                   : curves::unbounded_count;
    }
    const std::int64_t earlier =
        std::max<std::int64_t>(0, self.busy_activations->count(offset + epsilon) - 1);
    const Duration own = saturating_add(epsilon, (*self.cost)(earlier));
    const curves::SupplyBound& supply = executor_.executor_.supply;
    const Duration latest_start =
        least_solution(supply, start, executor_.horizon(), [&](Duration x) {
          Duration sum = own;
          for (std::size_t j = 0; j < members.size(); ++j) {
            if (j == self_) continue;
            sum = saturating_add(
                sum, cost_of(*members[j].cost, members[j].busy_activations->count(x), most_[j]));
          }
          return sum;
        });
    if (latest_start == unbounded_time) return {unbounded_time, unbounded_time};
    const Duration last_cost = (*self.cost)(earlier + 1) - (*self.cost)(earlier);  // Lemma 17
    return {latest_start, supply.time_for(supply.supply(latest_start) - epsilon + last_cost)};
  }

 private:
  const DefaultExecutor& executor_;
  std::size_t self_;
  std::int64_t points_;
  std::vector<std::int64_t> most_;
};

Duration DefaultExecutor::busy_window_length() {
  if (busy_window_length_) return *busy_window_length_;
  const bool endless =
      utilisation(executor_.callbacks, executor_.supply, system_, curves_).overloaded ||
      std::ranges::any_of(
          members_, [](const Member& member) { return member.busy_activations->unbounded(); });
  busy_window_length_ =
      endless ? unbounded_time
              : least_solution(executor_.supply, epsilon, horizon(), [this](Duration x) {
                  Duration sum = epsilon;
                  for (const Member& member : members_) {
                    sum = saturating_add(sum, (*member.cost)(member.busy_activations->count(x)));
                  }
                  return sum;
                });
  return *busy_window_length_;
}

Duration DefaultExecutor::busy_window(std::size_t index, std::int64_t points) {
  Member& self = members_[index];
  if (self.cached_for == points) return self.cached;
  self.cached_for = points;
  const Duration length = busy_window_length();
  if (length == unbounded_time) return self.cached = length;
  // Lemma 22: own steps enter one ε earlier, those of other polled callbacks where they are.
  const auto next_offset = [&](Duration t) {
    Duration next = unbounded_time;
    for (std::size_t j = 0; j < members_.size(); ++j) {
      if (!members_[j].polled) continue;
      const DerivedCurve& curve = *members_[j].busy_activations;
      next =
          std::min(next, j == index ? curve.next_step(t) - epsilon : curve.next_step(t - epsilon));
    }
    return next;
  };
  const Duration longest =
      longest_response(length, BusyWindowCompletion(*this, index, points), next_offset);
  return self.cached = std::max(epsilon, longest);
}

Duration DefaultExecutor::busy_window_of_chain(std::size_t last, std::int64_t points) {
  const Duration length = busy_window_length();
  if (length == unbounded_time) return length;
  // The chain may have been activated at the very start of the window, whenever its last callback
  // was: the latest completion counts, and completions do not decrease with the offset.
  return BusyWindowCompletion(*this, last, points)(length - epsilon, epsilon).finish;
}

Duration DefaultExecutor::privileged(std::size_t index) const {
  const Member& self = members_[index];
  // One lower callback may just have begun. On a processor of its own it has run for ε at least, or
  // this one would have been selected; under a reservation it may have been selected at the very
  // end of a budget, and wait with all of its cost ahead.
  const Duration begun = executor_.supply.blackout() == Duration{0} ? epsilon : Duration{0};
  Duration blocking{0};
  std::vector<const Member*> higher;
  std::vector<CallbackIndex> level{self.callback};
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == index) continue;
    if (j < index && !members_[j].polled) {
      higher.push_back(&members_[j]);
      level.push_back(members_[j].callback);
    } else {
      blocking = std::max(blocking, (*members_[j].cost)(1) - begun);
    }
  }
  if (utilisation(level, executor_.supply, system_, curves_).overloaded) return unbounded_time;
  const auto demand = [&](Duration x, std::int64_t own) {
    Duration sum = saturating_add(saturating_add(epsilon, blocking), (*self.cost)(own));
    for (const Member* other : higher) {
      sum = saturating_add(sum, (*other->cost)(other->activations->count(x)));
    }
    return sum;
  };
  const curves::SupplyBound& supply = executor_.supply;
  const Duration length = least_solution(supply, epsilon, horizon(), [&](Duration x) {
    return demand(x, self.activations->count(x));
  });
  if (length == unbounded_time) return length;
  const auto complete = [&](Duration offset, Duration start) -> Completion {
    const std::int64_t earlier =
        std::max<std::int64_t>(0, self.activations->count(offset + epsilon) - 1);
    const Duration latest_start =
        least_solution(supply, start, horizon(), [&](Duration x) { return demand(x, earlier); });
    if (latest_start == unbounded_time) return {unbounded_time, unbounded_time};
    const Duration last_cost = (*self.cost)(earlier + 1) - (*self.cost)(earlier);  // Lemma 17
    return {latest_start, supply.time_for(supply.supply(latest_start) - epsilon + last_cost)};
  };
  const auto next_offset = [&](Duration t) { return self.activations->next_step(t) - epsilon; };
  return std::max(epsilon, longest_response(length, complete, next_offset));
}

}  // namespace takt::analysis
