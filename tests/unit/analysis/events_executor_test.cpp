#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <numeric>

#include "executors/trees.hpp"
#include "model_builder.hpp"
#include "system/system.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/curves/saturating.hpp"

/// Facts of component-cps 3.7 and 4.7: events executors with fixed priorities, the overhead of
/// releases, and the graph-aware executor.
namespace takt::analysis {
namespace {

using model::CallbackIndex;
using model::ExecutorKind;
using model::ModelBuilder;
using std::chrono::microseconds;
using std::chrono::milliseconds;

struct Timer {
  Duration wcet;
  Duration period;
};

/// Table 3.1's sets by priority: IMU, four cameras, two LiDARs.
std::vector<Timer> sensors(int camera_ms) {
  std::vector<Timer> set{{milliseconds{1}, milliseconds{30}}};
  for (int i = 0; i < 4; ++i) set.push_back({milliseconds{camera_ms}, milliseconds{84}});
  for (int i = 0; i < 2; ++i) set.push_back({milliseconds{10}, milliseconds{200}});
  return set;
}

constexpr std::array camera_times{10, 14, 16};

ModelBuilder rate_monotonic(const std::vector<Timer>& set, Duration release_overhead) {
  ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, ExecutorKind::fixed_priority);
  builder.model().executors[0].release_overhead = release_overhead;
  for (const auto& [wcet, period] : set) builder.timer(e, wcet, model::every(period));
  // Of equal rates, the first before the others.
  std::int64_t priority = 0;
  for (model::Callback& callback : builder.model().callbacks) callback.priority = --priority;
  return builder;
}

/// Eq. 3.1, as printed.
Duration overhead(const std::vector<Timer>& set, Duration wcet, Duration release) {
  Duration t = wcet;
  for (;;) {
    std::int64_t releases = 0;
    for (const Timer& timer : set) releases += (t + timer.period - epsilon) / timer.period;
    if (wcet + releases * release == t) return releases * release;
    t = wcet + releases * release;
  }
}

/// Eq. 3.4, as printed: the least t with t >= C_k + max C_i of lower + Σ ceil(t / T_i) C_i of
/// higher.
std::vector<Duration> printed_bounds(const std::vector<Timer>& set, Duration extra) {
  std::vector<Duration> bounds;
  for (std::size_t k = 0; k < set.size(); ++k) {
    Duration blocking{0};
    for (std::size_t i = k + 1; i < set.size(); ++i) {
      blocking = std::max(blocking, set[i].wcet + extra);
    }
    Duration t = set[k].wcet + extra + blocking;
    for (Duration next = t;; t = next) {
      next = set[k].wcet + extra + blocking;
      for (std::size_t i = 0; i < k; ++i) {
        next += (t + set[i].period - epsilon) / set[i].period * (set[i].wcet + extra);
      }
      if (next == t) break;
    }
    bounds.push_back(t);
  }
  return bounds;
}

std::vector<Duration> bounds_of(const model::Model& model) {
  std::vector<Duration> bounds;
  for (const CallbackBound& bound : analyze(model).callbacks) {
    bounds.push_back(bound.bound.value_or(Duration{-1}));
  }
  return bounds;
}

TEST(CpsFact, A30_UtilisationsAndHyperperiod) {
  constexpr std::array expected{0.6095, 0.8000, 0.8952};
  for (std::size_t s = 0; s < camera_times.size(); ++s) {
    double utilisation = 0;
    Duration hyperperiod{1};
    for (const auto& [wcet, period] : sensors(camera_times[s])) {
      utilisation += static_cast<double>(wcet.count()) / static_cast<double>(period.count());
      hyperperiod = Duration{std::lcm(hyperperiod.count(), period.count())};
    }
    EXPECT_NEAR(utilisation, expected[s], 0.00005);
    EXPECT_EQ(hyperperiod, milliseconds{4200});
  }
}

TEST(CpsFact, A31_PrintedBoundsAreReproducedAndNotExceeded) {
  constexpr double table[3][3] = {
      {12.67, 57.83, 70.50}, {16.67, 75.66, 149.50}, {18.67, 83.66, 167.33}};
  const Duration extra{833'333};
  for (std::size_t s = 0; s < camera_times.size(); ++s) {
    const auto set = sensors(camera_times[s]);
    const std::vector<Duration> printed = printed_bounds(set, extra);
    // A seventh for each of the seven timers.
    const std::vector<Duration> ours = bounds_of(rate_monotonic(set, extra / 7).model());
    constexpr std::array lowest_of_kind{0U, 4U, 6U};
    for (std::size_t kind = 0; kind < lowest_of_kind.size(); ++kind) {
      const std::size_t k = lowest_of_kind[kind];
      EXPECT_NEAR(static_cast<double>(printed[k].count()) / 1e6, table[s][kind], 0.01);
      EXPECT_LE(ours[k], printed[k]);
    }
    EXPECT_NEAR(static_cast<double>(ours[0].count()) / 1e6, table[s][0], 0.01);
  }
}

/// The difference between bounds with and without releases of a timer that nothing else delays is
/// Δ itself.
TEST(CpsFact, A32_ReleaserOverhead) {
  for (const int camera : camera_times) {
    const auto set = sensors(camera);
    for (const Timer& timer : set) {
      EXPECT_EQ(overhead(set, timer.wcet, microseconds{120}), microseconds{840});
    }
    const Duration without = bounds_of(rate_monotonic(set, Duration{0}).model())[0];
    const Duration with = bounds_of(rate_monotonic(set, microseconds{120}).model())[0];
    // Its own and that of the camera that blocks it.
    EXPECT_EQ(with - without, 2 * microseconds{840});
  }
}

TEST(CpsFact, A33_PrintedBoundsWithoutOverheadAreNotExceeded) {
  constexpr int expected[3][7] = {
      {11, 21, 32, 42, 52, 0, 63}, {15, 29, 44, 58, 69, 0, 79}, {17, 34, 50, 67, 77, 0, 154}};
  for (std::size_t s = 0; s < camera_times.size(); ++s) {
    const auto set = sensors(camera_times[s]);
    const std::vector<Duration> printed = printed_bounds(set, Duration{0});
    const std::vector<Duration> ours = bounds_of(rate_monotonic(set, Duration{0}).model());
    for (std::size_t k = 0; k < set.size(); ++k) {
      if (expected[s][k] > 0) {
        EXPECT_EQ(printed[k], milliseconds{expected[s][k]});
      }
      EXPECT_LE(ours[k], printed[k]);
    }
    EXPECT_NEAR(static_cast<double>(ours[0].count()), expected[s][0] * 1e6, 1);
  }
}

/// Eq. 3.3: the sum of periods and responses. Ours is not above it, as its responses are not.
TEST(CpsFact, A34_ReactionTimeOfAChainOfTimers) {
  const auto set = sensors(10);
  ModelBuilder builder = rate_monotonic(set, Duration{833'333} / 7);
  const std::vector<Duration> responses = bounds_of(builder.model());
  builder.chain({CallbackIndex{0}, CallbackIndex{4}, CallbackIndex{6}});
  const std::vector<Duration> printed = printed_bounds(set, Duration{833'333});
  Duration by_document{0};
  Duration by_sum{0};
  for (const std::size_t k : {0U, 4U, 6U}) {
    by_document += set[k].period + printed[k];
    by_sum += set[k].period + responses[k];
  }
  EXPECT_NEAR(static_cast<double>(by_document.count()) / 1e6, 455.0, 0.01);
  const ChainBound chain = analyze(builder.model()).chains[0];
  EXPECT_EQ(chain.reaction_time, by_sum);
  EXPECT_LE(*chain.reaction_time, by_document);
}

/// component-cps 3.7: releases that take all of the processor leave nothing to bound.
TEST(ReleaseOverhead, EndlessReleasesAreNoBound) {
  ModelBuilder builder = rate_monotonic({{milliseconds{1}, milliseconds{10}}}, milliseconds{10});
  EXPECT_EQ(analyze(builder.model()).callbacks[0].reason,
            "executor \"e0\" needs 1.10 of a processor, its supply gives 1.00");
}

/// Limited preemption: a message to the executor's own callback is released while its sender runs.
TEST(ReleaseOverhead, OfMessagesWithinAChain) {
  ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, ExecutorKind::fixed_priority);
  const auto head = builder.timer(e, Duration{10}, model::every(Duration{100}));
  builder.chain({head, builder.subscription(e, Duration{5})});
  EXPECT_EQ(analyze(builder.model()).chains[0].bound, Duration{15} + epsilon);
  builder.model().executors[0].release_overhead = Duration{2};
  // The timer's release, the head with its message's, and the subscription.
  EXPECT_EQ(analyze(builder.model()).chains[0].bound, Duration{2 + 10 + 2 + 5} + epsilon);
}

/// Ten timers that are released together: an instance with all releases that may come while it runs
/// takes 21 ms, and ten of them more than the period. In a window all releases come once in a
/// period: 20 ms of them and nine instances go before the last one, which the next ones may delay.
TEST(ReleaseOverhead, CountsOnceInAWindow) {
  const std::vector<Timer> set(10, {milliseconds{1}, milliseconds{100}});
  const Bounds bounds = analyze(rate_monotonic(set, milliseconds{2}).model());
  const Duration last = milliseconds{20 + 9 + 1 + 20};
  EXPECT_EQ(bounds.callbacks.back().bound, last);
  for (const CallbackBound& callback : bounds.callbacks) {
    ASSERT_TRUE(callback.bound) << callback.reason;
    EXPECT_LE(*callback.bound, last);
  }
}

/// Trees of component-cps 4.8: a root per publisher, each with both subscribers below it.
ModelBuilder many_to_many(std::array<int, 3> roots, std::array<int, 2> subscribers) {
  constexpr std::array periods{25, 41, 51};
  ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, ExecutorKind::graph_aware);
  std::vector<CallbackIndex> publishers;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    publishers.push_back(
        builder.timer(e, milliseconds{roots[i]}, model::every(milliseconds{periods[i]})));
  }
  for (const int wcet : subscribers) {
    const auto subscriber = builder.subscription(e, milliseconds{wcet});
    for (const CallbackIndex publisher : publishers) builder.edge(publisher, subscriber);
  }
  for (const CallbackIndex publisher : publishers) {
    for (std::size_t s = 0; s < subscribers.size(); ++s) {
      builder.chain({publisher, CallbackIndex{roots.size() + s}});
    }
  }
  return builder;
}

std::vector<std::int64_t> sizes_of_trees(const model::Model& model) {
  std::vector<std::int64_t> sizes;
  for (const Tree& tree : unfold(System(model), model::ExecutorIndex{0})) {
    std::int64_t& size = sizes.emplace_back(0);
    for (const auto& [callback, copies] : tree.members) size += copies;
  }
  return sizes;
}

TEST(CpsFact, A38_UnfoldingCopiesACallbackForEachPath) {
  EXPECT_EQ(sizes_of_trees(many_to_many({1, 1, 1}, {1, 1}).model()),
            (std::vector<std::int64_t>{3, 3, 3}));
  ModelBuilder diamond;
  const auto e = diamond.executor(model::DedicatedSupply{}, ExecutorKind::graph_aware);
  const auto root = diamond.timer(e, milliseconds{1}, model::every(milliseconds{10}));
  const auto left = diamond.subscription(e, milliseconds{1});
  const auto right = diamond.subscription(e, milliseconds{1});
  const auto end = diamond.subscription(e, milliseconds{1});
  diamond.edge(root, left);
  diamond.edge(root, right);
  diamond.edge(left, end);
  diamond.edge(right, end);
  EXPECT_EQ(sizes_of_trees(diamond.model()), (std::vector<std::int64_t>{5}));
}

/// The bound of a tree is that of its longest chain; the printed ones count the whole tree, so ours
/// may not be above them.
TEST(CpsFact, A41_LimitedPreemptiveBounds) {
  struct Set {
    std::array<int, 3> roots;
    std::array<int, 2> subscribers;
    std::array<int, 3> bounds;
  };
  for (const Set& set :
       {Set{{1, 1, 5}, {2, 2}, {10, 15, 19}}, Set{{2, 1, 12}, {2, 2}, {18, 23, 33}},
        Set{{3, 1, 12}, {2, 4}, {21, 37, 50}}}) {
    const Bounds bounds = analyze(many_to_many(set.roots, set.subscribers).model());
    for (std::size_t tree = 0; tree < 3; ++tree) {
      const Duration ours = std::max(bounds.chains[2 * tree].bound.value_or(Duration::max()),
                                     bounds.chains[2 * tree + 1].bound.value_or(Duration::max()));
      EXPECT_LE(ours, milliseconds{set.bounds[tree]});
    }
  }
}

/// By deadlines, which are the periods: the greatest responses of the trees in simulations with
/// random phases (component-cps 4.8) are reached.
TEST(CpsFact, A41_LimitedPreemptiveBoundsByDeadline) {
  struct Set {
    std::array<int, 3> roots;
    std::array<int, 2> subscribers;
    std::array<int, 3> bounds;
  };
  for (const Set& set :
       {Set{{1, 1, 5}, {2, 2}, {10, 15, 19}}, Set{{2, 1, 12}, {2, 2}, {18, 23, 33}},
        Set{{3, 1, 12}, {2, 4}, {21, 33, 43}}}) {
    model::Model model = many_to_many(set.roots, set.subscribers).model();
    for (model::Callback& callback : model.callbacks) {
      if (callback.kind != model::CallbackKind::timer) continue;
      callback.deadline = std::get<model::PeriodicActivation>(*callback.activation).period;
    }
    const Bounds bounds = analyze(model);
    for (std::size_t tree = 0; tree < 3; ++tree) {
      EXPECT_EQ(bounds.chains[2 * tree].bound, milliseconds{set.bounds[tree]});
      EXPECT_EQ(bounds.chains[2 * tree + 1].bound, milliseconds{set.bounds[tree]});
    }
  }
}

/// The callback is a root for its own activations, and so it is for what it sends to itself: the
/// chain passes through two trees. A simulation had 6 ns.
TEST(GraphAware, AChainThatReturnsToItsRootOutlastsATree) {
  ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, ExecutorKind::graph_aware);
  const auto sender = builder.timer(e, Duration{2}, model::every(Duration{55}));
  model::MinDistanceActivation own;
  own.values = {Duration{0}, Duration{1}, Duration{3}, Duration{117}};
  const auto root = builder.subscription(e, Duration{1}, own);
  builder.edge(sender, root);
  builder.edge(root, root).triggered_by = {sender};
  builder.chain({root, root});
  EXPECT_GE(analyze(builder.model()).chains[0].bound, Duration{6});
}

/// Both are released at 0, and the urgent one runs until 38. Then a release takes 2, in which the
/// urgent one is activated again, at 39: it goes first once more, and the other one ends at 45.
TEST(ReleaseOverhead, PutsOffADecision) {
  ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, ExecutorKind::fixed_priority);
  builder.model().executors[0].release_overhead = Duration{2};
  const auto victim = builder.timer(e, Duration{1}, model::every(Duration{38}));
  const auto urgent = builder.timer(e, Duration{34}, model::every(Duration{39}));
  builder.model().callbacks[victim.value()].priority = 0;
  builder.model().callbacks[urgent.value()].priority = 5;
  builder.model().callbacks[urgent.value()].execution_time = {Duration{34}, Duration{36}};
  const auto bound = analyze(builder.model()).callbacks[victim.value()].bound;
  ASSERT_TRUE(bound);
  EXPECT_GE(*bound, Duration{45});
}

/// With its releases an instance takes at most the longest time, several together do not.
TEST(ReleaseOverhead, MayMakeACostCurveExceedTheLongestTime) {
  ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, ExecutorKind::events);
  builder.model().executors[0].release_overhead = Duration{5};
  const Duration longest = curves::longest_time;
  (void)builder.callback(e, model::CallbackKind::timer, {longest - Duration{10}, longest},
                         model::every(longest));
  const Bounds bounds = analyze(builder.model(), {.horizon = longest});
  EXPECT_EQ(bounds.callbacks[0].bound, longest - Duration{5});
}

}  // namespace
}  // namespace takt::analysis
