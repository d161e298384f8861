#include "takt/scheduling/graph_aware.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "takt/scheduling/dispatch.hpp"
#include "virtual_executor.hpp"

namespace takt::scheduling {
namespace {

using testing::ElementsAre;

/// The 90 % set of component-cps 4.8: three roots that publish to sA, then sB.
std::vector<TestCallback> many_to_many() {
  const std::vector<LocalIndex> subscribers = {LocalIndex(3), LocalIndex(4)};
  return {{"r25", Duration(3), subscribers},
          {"r41", Duration(1), subscribers},
          {"r51", Duration(12), subscribers},
          {"sA", Duration(2), {}},
          {"sB", Duration(4), {}}};
}

TEST(GraphAwarePolicy, RunsTheManyToManySetByRate) {
  const std::vector<std::optional<std::int64_t>> priorities = {-25, -41, -51, std::nullopt,
                                                               std::nullopt};
  GraphAwarePolicy policy = GraphAwarePolicy::fixed_priority(priorities, 16);
  const auto callbacks = many_to_many();
  const auto runs = run(policy, callbacks, periodic({25, 41, 51}, 50));
  EXPECT_EQ(describe(callbacks, runs),
            "r25 [0,3) sB [3,7) sA [7,9) r41 [9,10) sB [10,14) sA [14,16) r51 [16,28) "
            "r25 [28,31) sB [31,35) sA [35,37) sB [37,41) r41 [41,42) sB [42,46) sA [46,48) "
            "sA [48,50)");
  // at 31 the newer of sB's two messages, r25's, belongs to the instance that runs.
  EXPECT_EQ(runs[8].job, runs[7].job);
  EXPECT_NE(runs[10].job, runs[8].job);
}

TEST(GraphAwarePolicy, FinishesTheTreeOnATie) {
  const std::vector<std::optional<std::int64_t>> priorities = {1, 1, std::nullopt};
  GraphAwarePolicy policy = GraphAwarePolicy::fixed_priority(priorities, 4);
  policy.release(LocalIndex(0), at(0));
  policy.release(LocalIndex(1), at(0));
  EXPECT_EQ(policy.next(), LocalIndex(0));
  policy.release(LocalIndex(2), at(1), at(0));
  EXPECT_EQ(policy.next(), LocalIndex(2));
  EXPECT_EQ(policy.next(), LocalIndex(1));
}

TEST(GraphAwarePolicy, WhatComesFromOutsideWithoutAPriorityComesLast) {
  const std::vector<std::optional<std::int64_t>> priorities = {-7, std::nullopt};
  GraphAwarePolicy policy = GraphAwarePolicy::fixed_priority(priorities, 4);
  const LocalIndex root(0);
  const LocalIndex child(1);
  policy.release(child, at(0));
  policy.release(root, at(0));
  EXPECT_EQ(policy.next(), root);
  // Triggered by the root, it inherits its priority.
  policy.release(child, at(1), at(0));
  policy.release(root, at(2));
  policy.completed(root);
  EXPECT_EQ(policy.next(), child);
  policy.completed(child);
  EXPECT_EQ(policy.next(), root);
  policy.completed(root);
  EXPECT_EQ(policy.next(), child);
  EXPECT_EQ(policy.next(), std::nullopt);
}

TEST(GraphAwarePolicy, WhatOneInstanceSendsToAChildKeepsItsOrder) {
  const LocalIndex root(0);
  const LocalIndex child(1);
  const LocalIndex other(2);
  const std::vector<std::optional<std::int64_t>> priorities = {1, std::nullopt, std::nullopt};
  Dispatch dispatch(1);
  (void)dispatch.replace(std::unique_ptr<Policy>(
                             new GraphAwarePolicy(GraphAwarePolicy::fixed_priority(priorities, 4))),
                         3, false);
  std::vector<std::int64_t> order;
  const auto run_next = [&] {
    Job job;
    if (!dispatch.next(job)) return false;
    order.push_back(job.instance.activation.time_since_epoch().count());
    // Each run of the root sends to one child, the other, and three times more to the first.
    if (job.callback == root) {
      for (const int n : {1, 2, 3, 4, 5}) {
        const Instant sent = job.instance.activation + Duration(n);
        (void)dispatch.release(n == 2 ? other : child, sent, job.instance.origin, 0);
      }
    }
    dispatch.completed(job, job.callback);
    return true;
  };
  (void)dispatch.release(root, at(10), at(10), 0);
  (void)dispatch.release(root, at(20), at(20), 0);
  while (run_next()) {
  }
  EXPECT_THAT(order, ElementsAre(10, 11, 13, 14, 12, 15, 20, 21, 23, 24, 22, 25));
  order.clear();
  // From outside, and more than one waits: the oldest first.
  for (const int n : {31, 32, 33}) (void)dispatch.release(child, at(n), at(n), 0);
  while (run_next()) {
  }
  EXPECT_THAT(order, ElementsAre(31, 32, 33));
}

// Theorem 2: the schedule is that of a scheduler that sees every node of the unfolded
// forest with its job's priority, and of equals prefers a child, and of children the youngest.

struct Graph {
  std::vector<TestCallback> callbacks;
  /// Priority or relative deadline of the roots; none: a child.
  std::vector<std::optional<std::int64_t>> roots;
  bool by_deadline = false;
};

Graph random_graph(std::mt19937& random) {
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  Graph graph;
  graph.by_deadline = draw(0, 1) == 1;
  const int count = draw(2, 8);
  const int roots = draw(1, std::min(count, 4));
  for (int i = 0; i < count; ++i) {
    graph.callbacks.push_back({std::to_string(i), Duration(draw(0, 5)), {}});
    graph.roots.push_back(i < roots ? std::optional<std::int64_t>(draw(1, 20)) : std::nullopt);
  }
  // Edges go from lower to higher numbers; every child has a parent, and maybe several.
  for (int child = roots; child < count; ++child) {
    const int parents = draw(1, std::min(3, child));
    for (int i = 0; i < parents; ++i) {
      auto& triggers = graph.callbacks[static_cast<std::size_t>(draw(0, child - 1))].triggers;
      const LocalIndex index(static_cast<std::size_t>(child));
      if (std::ranges::find(triggers, index) == triggers.end()) triggers.push_back(index);
    }
  }
  for (TestCallback& callback : graph.callbacks) std::ranges::shuffle(callback.triggers, random);
  return graph;
}

std::vector<Arrival> random_arrivals(const Graph& graph, std::mt19937& random) {
  std::vector<Arrival> arrivals;
  for (std::size_t i = 0; i < graph.roots.size(); ++i) {
    if (!graph.roots[i]) continue;
    int time = std::uniform_int_distribution(0, 10)(random);
    for (int n = 0; n < 8; ++n) {
      arrivals.push_back({at(time), LocalIndex(i)});
      time += std::uniform_int_distribution(0, 25)(random);
    }
  }
  std::ranges::stable_sort(arrivals, {}, &Arrival::when);
  return arrivals;
}

std::vector<CompletedInstance> reference_schedule(const Graph& graph,
                                                  const std::vector<Arrival>& arrivals) {
  struct Ready {
    LocalIndex callback;
    std::size_t job = 0;
    std::int64_t urgency = 0;
    bool child = false;
    std::int64_t age = 0;  // the smaller runs first among equals
  };
  std::vector<Ready> ready;
  std::vector<CompletedInstance> runs;
  std::size_t arrived = 0;
  std::int64_t released = 0;
  Instant now{};
  while (true) {
    for (; arrived < arrivals.size() && arrivals[arrived].when <= now; ++arrived) {
      const auto [when, callback] = arrivals[arrived];
      const std::int64_t root = *graph.roots[callback.value()];
      ready.push_back(
          {callback, arrived,
           graph.by_deadline ? (when + Duration(root)).time_since_epoch().count() : -root, false,
           ++released});
    }
    if (ready.empty()) {
      if (arrived == arrivals.size()) return runs;
      now = arrivals[arrived].when;
      continue;
    }
    const auto best = std::ranges::min_element(
        ready, {}, [](const Ready& r) { return std::tuple(r.urgency, !r.child, r.age); });
    const Ready chosen = *best;
    ready.erase(best);
    const TestCallback& callback = graph.callbacks[chosen.callback.value()];
    runs.push_back({chosen.callback, chosen.job, now, now + callback.cost});
    now += callback.cost;
    for (const LocalIndex child : callback.triggers) {
      ready.push_back({child, chosen.job, chosen.urgency, true, -++released});
    }
  }
}

TEST(GraphAwarePolicy, SchedulesTheUnfoldedForestOnRandomGraphs) {
  std::mt19937 random(2);
  std::size_t instances = 0;
  for (int round = 0; round < 10'000; ++round) {
    const Graph graph = random_graph(random);
    const std::vector<Arrival> arrivals = random_arrivals(graph, random);
    std::vector<std::optional<Duration>> deadlines;
    for (const auto& root : graph.roots) {
      deadlines.push_back(root ? std::optional(Duration(*root)) : std::nullopt);
    }
    GraphAwarePolicy policy = graph.by_deadline ? GraphAwarePolicy::edf(deadlines, 64)
                                                : GraphAwarePolicy::fixed_priority(graph.roots, 64);
    const std::vector<CompletedInstance> runs = run(policy, graph.callbacks, arrivals);
    const std::vector<CompletedInstance> expected = reference_schedule(graph, arrivals);
    ASSERT_EQ(runs, expected) << "round " << round << "\n"
                              << describe(graph.callbacks, runs) << "\n"
                              << describe(graph.callbacks, expected);
    instances += runs.size();
  }
  EXPECT_GT(instances, 500'000U);
}

}  // namespace
}  // namespace takt::scheduling
