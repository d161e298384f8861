// How each executor's analysis tells the terms of its bounds: the equations are those of bound(),
// evaluated once more where they attained their maximum.

#include <algorithm>
#include <utility>

#include "deadline_chains.hpp"
#include "default_executor.hpp"
#include "multi_threaded_executor.hpp"
#include "queue_executor.hpp"
#include "table_driven_executor.hpp"

namespace takt::analysis {

using curves::unbounded_time;
using Kind = Explanation::Kind;

namespace {

/// The greatest offset of which the response, finish(offset) - offset, is the longest one. Finishes
/// do not decrease with the offset, so no such offset lies between finish(t) - longest and any t
/// above it.
template <typename Finish>
Duration offset_of_longest(Duration length, Duration longest, Finish finish) {
  Duration offset = length - epsilon;
  while (offset > Duration{0}) {
    const Duration next = std::max(Duration{0}, finish(offset) - longest);
    if (next >= offset) break;
    offset = next;
  }
  return offset;
}

}  // namespace

CallbackIndex ExecutorAnalysis::callback_of(const Cost* cost) const {
  return std::ranges::find(members_, cost, [](const Member& m) { return &m.task->cost; })->callback;
}

Terms ExecutorAnalysis::explain_instance(BusyWindow& window, std::optional<CallbackIndex> blocker,
                                         Duration offset, Duration elapsed) const {
  Terms terms(round_.system);
  const BusyWindow::Counts counts = window.count(offset);
  const Interferer& self = window.self();
  const CallbackIndex victim = callback_of(self.cost);
  terms.add_cost(Kind::execution, victim, *self.cost, counts.earlier, counts.earlier + 1);
  terms.add_cost(Kind::earlier, victim, *self.cost, 0, counts.earlier);
  for (std::size_t j = 0; j < counts.others.size(); ++j) {
    const Interferer& other = window.others()[j];
    const CallbackIndex callback = callback_of(other.cost);
    terms.add_cost(callback == victim ? Kind::earlier : Kind::interference, callback, *other.cost,
                   0, counts.others[j]);
  }
  terms.add(Kind::blocking, window.blocking(), blocker, 1);
  terms.add(Kind::supply, counts.completion.finish - terms.total());
  terms.add(Kind::elapsed, -elapsed);
  return terms;
}

Terms ExecutorAnalysis::explain_longest(BusyWindow& window, std::optional<CallbackIndex> blocker,
                                        Duration length, Duration longest) const {
  const Duration offset = offset_of_longest(
      length, longest, [&](Duration t) { return window.complete(t, epsilon).finish; });
  return explain_instance(window, blocker, offset, offset);
}

Terms ExecutorAnalysis::explain_length(const BusyWindow& window,
                                       std::optional<CallbackIndex> blocker,
                                       CallbackIndex victim) const {
  Terms terms(round_.system);
  const Duration length = window.length();
  const auto add = [&](const Interferer& interferer) {
    const CallbackIndex callback = callback_of(interferer.cost);
    const std::int64_t instances = interferer.activations->count(length);
    const bool itself = callback == victim;
    if (itself)
      terms.add_cost(Kind::execution, callback, *interferer.cost, instances - 1, instances);
    terms.add_cost(itself ? Kind::earlier : Kind::interference, callback, *interferer.cost, 0,
                   instances - (itself ? 1 : 0));
  };
  add(window.self());
  for (const Interferer& other : window.others()) add(other);
  terms.add(Kind::blocking, window.blocking(), blocker, 1);
  terms.add(Kind::rounding, epsilon);
  terms.add(Kind::supply, length - terms.total());
  return terms;
}

Terms ExecutorAnalysis::explain_each(std::span<const CallbackIndex> chain) {
  Terms terms(round_.system);
  for (const CallbackIndex callback : chain) {
    terms.append(explain(std::span(&callback, 1), round_.response[callback.value()]));
  }
  return terms;
}

Terms DefaultExecutor::explain(std::span<const CallbackIndex> chain, Duration response) {
  const std::size_t last = round_.system[chain.back()].rank;
  if (!members_[last].task->polled) {
    auto [window, blocker] = privileged_window(last);
    return explain_longest(window, blocker, window.length(), response);
  }
  std::int64_t points = 0;
  for (const CallbackIndex callback : chain) {
    points = curves::saturating_add(points, polling_points(members_[round_.system[callback].rank]));
  }
  const LocalBound won = chain.size() == 1 ? bound(chain.front()) : bound(chain);
  if (won.by == "round_robin") return explain_round_robin(last, points);
  BusyWindow window = window_of(last, points);
  const Duration length = busy_window_length();
  return chain.size() == 1 ? explain_longest(window, std::nullopt, length, won.response)
                           : explain_instance(window, std::nullopt, length - epsilon, Duration{0});
}

Terms DefaultExecutor::explain_round_robin(std::size_t last, std::int64_t points) {
  Terms terms(round_.system);
  const Member& self = members_[last];
  std::vector<RoundRobin::Other> others;
  add_others(last, others);
  RoundRobin search = round_robin(last, others);
  search.renew_others();
  search.renew(response(self), points);
  const Duration longest = search.longest_response(horizon());
  const Duration start = search.start();
  const std::int64_t earlier = std::max<std::int64_t>(0, pending(self, start) - 1);
  terms.add_cost(Kind::execution, self.callback, self.task->cost, earlier, earlier + 1);
  terms.add_cost(Kind::earlier, self.callback, self.task->cost, 0, earlier);
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (j == last) continue;
    terms.add_cost(Kind::interference, members_[j].callback, members_[j].task->cost, 0,
                   std::min(pending(members_[j], start),
                            curves::saturating_add(points, extra_instances(j, last))));
  }
  terms.add(Kind::supply, longest - terms.total());
  return terms;
}

Terms QueueExecutor::explain(std::span<const CallbackIndex> chain, Duration response) {
  const Member& last = members_[round_.system[chain.back()].rank];
  if (deadline_chain_response(chain) == response) return explain_deadline_chain(chain, response);
  if (const Tree* tree = tree_of(chain, response)) return explain_tree(*tree, response);
  if (chain.size() == 1) {
    BusyWindow window = executor_window(last);
    const Duration length = busy_window_length();
    if (length != unbounded_time && window.longest_response(busy_window_length()) == response) {
      return explain_longest(window, std::nullopt, length, response);
    }
    auto [level, blocker] = level_window(last).value();
    return explain_longest(level, blocker, level.length(), response);
  }
  if (sum_of_callbacks(chain).response == response) return explain_each(chain);
  if (const BusyWindow all = window_of_all(); all.length() == response) {
    return explain_length(all, std::nullopt, last.callback);
  }
  const auto [window, blocker] = chain_window(chain).value();
  return explain_length(window, blocker, last.callback);
}

Terms QueueExecutor::explain_deadline_chain(std::span<const CallbackIndex> callbacks,
                                            Duration response) const {
  Terms terms(round_.system);
  const auto chain = std::ranges::find_if(executor_.deadline_chains, [&](const auto& candidate) {
    return !std::ranges::search(candidate, callbacks).empty();
  });
  const auto index = static_cast<std::size_t>(chain - executor_.deadline_chains.begin());
  const bool paper = round_.options.method == Method::edf_paper;
  const LeastSlack slack =
      least_slack(deadline_chains(), index, executor_.supply,
                  paper ? Blocking::paper : Blocking::deadline_aware, horizon());
  for (std::size_t j = 0; j < slack.due.size(); ++j) {
    const bool own = j == index;
    for (const CallbackIndex callback : executor_.deadline_chains[j]) {
      const Cost& cost = members_[round_.system[callback].rank].task->cost;
      const std::int64_t before = slack.due[j] - (own ? 1 : 0);
      if (own) terms.add_cost(Kind::execution, callback, cost, before, slack.due[j]);
      terms.add_cost(own ? Kind::earlier : Kind::interference, callback, cost, 0, before);
    }
  }
  const Cost* blocker = slack.blocker;
  terms.add(Kind::blocking, slack.blocking,
            blocker == nullptr ? std::nullopt : std::optional(callback_of(blocker)), 1);
  terms.add(Kind::supply, slack.finish - terms.total());
  terms.add(Kind::elapsed, -slack.elapsed);
  terms.add(Kind::limit, response - terms.total());
  return terms;
}

Terms QueueExecutor::explain_tree(const Tree& tree, Duration response) const {
  Terms terms(round_.system);
  const TreeWindow window = tree_window(tree).value();
  const auto finish = [&](Duration t) { return complete(window, t, epsilon).finish; };
  const Duration offset = offset_of_longest(length(window), response, finish);
  const auto add = [&](Kind kind, const Tree& of, std::int64_t activations) {
    for (const auto& [callback, copies] : of.members) {
      const Cost& cost = members_[round_.system[callback].rank].task->cost;
      terms.add_longest(kind, callback, cost, activations * copies);
    }
  };
  const std::int64_t own = window.self.activations->count(offset + epsilon);
  add(Kind::execution, tree, 1);
  add(Kind::earlier, tree, own - 1);
  for (std::size_t j = 0; j < window.trees.size(); ++j) {
    add(Kind::interference, *window.trees[j], window.others[j].activations->count(finish(offset)));
  }
  terms.add(Kind::blocking, window.blocking, window.blocker, 1);
  terms.add(Kind::supply, finish(offset) - terms.total());
  terms.add(Kind::elapsed, -offset);
  return terms;
}

Terms MultiThreadedExecutor::explain(std::span<const CallbackIndex> chain, Duration /*response*/) {
  if (chain.size() > 1) return explain_each(chain);
  Terms terms(round_.system);
  const Member& self = members_[round_.system[chain.front()].rank];
  const Duration start = latest_start(self);
  const std::int64_t earlier = std::max<std::int64_t>(0, pending(self, start) - 1);
  const auto add = [&](Kind kind, const Member& member, std::int64_t instances) {
    if (executor_.supply.blackout() == Duration{0}) {
      terms.add_cost(kind, member.callback, member.task->cost, 0, instances);
      return occupied(member, instances);
    }
    // Each waits for its thread's supply by itself.
    const Duration all = occupied(member, instances);
    terms.add_longest(kind, member.callback, member.task->cost, instances);
    terms.add(Kind::supply, all - member.task->cost(1) * instances, member.callback, instances);
    return all;
  };
  add(Kind::execution, self, 1);
  add(Kind::earlier, self, earlier);
  Duration shared{0};
  for (const Member& other : members_) {
    if (&other == &self) continue;
    const Duration time = add(Kind::interference, other, pending(other, start));
    if (!exclude(self, other)) shared += time;
  }
  terms.add(Kind::parallel, shared / executor_.threads - shared);
  return terms;
}

Terms TableDrivenExecutor::explain(std::span<const CallbackIndex> chain, Duration response) {
  Terms terms(round_.system);
  if (chain.size() > 1) {
    if (sum_of_callbacks(chain).response == response) return explain_each(chain);
    for (const CallbackIndex callback : chain) {
      terms.add_cost(Kind::execution, callback, round_.system[callback].cost, 0, 1);
    }
    terms.add(Kind::supply, response - terms.total());
    return terms;
  }
  const Member& self = members_[round_.system[chain.front()].rank];
  const LongestResponse found = longest_response(self).value();
  terms.add_cost(Kind::execution, self.callback, self.task->cost, 0, 1);
  terms.add_longest(Kind::earlier, self.callback, self.task->cost, found.earlier);
  terms.add(Kind::supply, found.response + found.activation - terms.total());
  terms.add(Kind::elapsed, -found.activation);
  return terms;
}

}  // namespace takt::analysis
