#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <vector>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/analysis/analyzer.hpp"
#include "takt/analysis/explanation.hpp"

/// Executors whose threads have fixed priorities on a processor that they share (ros-llama 2.3.1).
namespace takt::analysis {
namespace {

using enum model::ExecutorKind;
using model::CallbackIndex;
using model::ExecutorIndex;
using model::FixedPrioritySupply;
using model::ModelBuilder;
using std::chrono::milliseconds;

struct FixedThread {
  int priority = 1;
  int cost = 1;
  int period = 1;
};

ExecutorIndex add_thread(ModelBuilder& builder, const FixedThread& thread,
                         model::ExecutorKind kind = fixed_priority) {
  const ExecutorIndex executor =
      builder.executor(FixedPrioritySupply{.priority = thread.priority}, kind);
  builder.model().executors[executor.value()].cpu = 0;
  builder.timer(executor, Duration{thread.cost}, model::every(Duration{thread.period}));
  return executor;
}

std::vector<std::optional<Duration>> thread_bounds(const model::Model& model) {
  std::vector<std::optional<Duration>> result;
  for (const CallbackBound& callback : analyze(model).callbacks) result.push_back(callback.bound);
  return result;
}

/// Tindell, Burns, Wellings (1994), preemptive fixed priorities with any deadlines: the instance
/// with number q of a busy period has completed at the least w with
/// w = (q + 1)·C_i + Σ ⌈w/T_j⌉·C_j over all others at least as urgent.
std::int64_t classical_response(const std::vector<FixedThread>& threads, std::size_t victim) {
  const FixedThread& self = threads[victim];
  std::int64_t longest = 0;
  for (std::int64_t q = 0;; ++q) {
    std::int64_t finish = 1;
    for (std::int64_t before = 0; before != finish;) {
      before = finish;
      finish = (q + 1) * self.cost;
      for (std::size_t j = 0; j < threads.size(); ++j) {
        if (j == victim || threads[j].priority < self.priority) continue;
        finish += (before + threads[j].period - 1) / threads[j].period * threads[j].cost;
      }
    }
    longest = std::max(longest, finish - q * self.period);
    if (finish <= (q + 1) * self.period) return longest;
  }
}

TEST(FixedPriorityThreads, OfOneTimerEachHaveTheClassicalBounds) {
  std::mt19937_64 random(3);
  const auto between = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  int compared = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<FixedThread> threads;
    double load = 0;
    const int count = between(2, 5);
    for (int t = 0; t < count; ++t) {
      const int period = between(5, 60);
      threads.push_back({between(1, 4), between(1, std::max(1, period / 3)), period});
      load += static_cast<double>(threads.back().cost) / threads.back().period;
    }
    if (load >= 0.98) continue;
    ModelBuilder builder;
    for (const FixedThread& thread : threads) add_thread(builder, thread);
    const auto bounds = thread_bounds(builder.model());
    for (std::size_t t = 0; t < threads.size(); ++t) {
      EXPECT_EQ(bounds[t], Duration{classical_response(threads, t)}) << "round " << round;
      ++compared;
    }
  }
  EXPECT_GT(compared, 700);
}

TEST(FixedPriorityThreads, DoNotDisturbMoreUrgentOnes) {
  ModelBuilder builder;
  add_thread(builder, {.priority = 80, .cost = 2, .period = 10}, single_threaded);
  add_thread(builder, {.priority = 50, .cost = 7, .period = 20}, single_threaded);
  // The first runs once before the second, which is done as it comes again.
  EXPECT_THAT(thread_bounds(builder.model()), testing::ElementsAre(Duration{2}, Duration{9}));
}

TEST(FixedPriorityThreads, WaitForReservationsOfTheirProcessor) {
  ModelBuilder builder;
  add_thread(builder, {.priority = 80, .cost = 5, .period = 100});
  const ExecutorIndex reserved =
      builder.executor(model::ReservationSupply{Duration{2}, Duration{10}, Duration{10}});
  builder.model().executors[reserved.value()].cpu = 0;
  builder.timer(reserved, Duration{1}, model::every(Duration{50}));
  // Twice 2 in a row, a fifth of what is left: the least x with x - 4 - ⌈(x - 4)/5⌉ >= 5 is 11.
  EXPECT_EQ(thread_bounds(builder.model())[0], Duration{11});
  // Another processor's reservation takes nothing.
  builder.model().executors[reserved.value()].cpu = 1;
  EXPECT_EQ(thread_bounds(builder.model())[0], Duration{5});
}

TEST(FixedPriorityThreads, LackWhatTheKernelWithholds) {
  for (const bool shares : {false, true}) {
    ModelBuilder builder;
    const ExecutorIndex executor =
        builder.executor(FixedPrioritySupply{.priority = 50,
                                             .withheld = milliseconds{50},
                                             .withheld_period = std::chrono::seconds{1}},
                         events);
    if (shares) builder.model().executors[executor.value()].cpu = 0;
    builder.timer(executor, milliseconds{19}, model::every(milliseconds{500}));
    // 50 ms at the end of a second, 50 at the beginning of the next, a twentieth of what follows.
    EXPECT_EQ(thread_bounds(builder.model())[0], milliseconds{120});
  }
}

TEST(FixedPriorityThreads, CountTheReleasesOfOthers) {
  ModelBuilder builder;
  const ExecutorIndex high = add_thread(builder, {.priority = 2, .cost = 2, .period = 10});
  add_thread(builder, {.priority = 1, .cost = 7, .period = 100});
  builder.model().executors[high.value()].release_overhead = Duration{1};
  // 3 of each 10.
  EXPECT_EQ(thread_bounds(builder.model())[1], Duration{10});
}

TEST(FixedPriorityThreads, WithoutRivalsHaveTheirProcessor) {
  ModelBuilder builder;
  const ExecutorIndex executor = add_thread(builder, {.priority = 1, .cost = 2, .period = 10});
  const auto alone = thread_bounds(builder.model());
  builder.model().executors[executor.value()].supply = model::DedicatedSupply{};
  builder.model().executors[executor.value()].cpu.reset();
  EXPECT_EQ(alone, thread_bounds(builder.model()));
}

TEST(FixedPriorityThreads, SendToEachOtherAcrossPriorities) {
  ModelBuilder builder;
  const ExecutorIndex low = add_thread(builder, {.priority = 1, .cost = 3, .period = 20}, events);
  const ExecutorIndex high = add_thread(builder, {.priority = 2, .cost = 1, .period = 20}, events);
  const CallbackIndex sent = builder.subscription(high, Duration{2});
  builder.edge(CallbackIndex{0}, sent);
  // The less urgent thread makes the more urgent one run: both bounds follow from each other.
  const auto bounds = thread_bounds(builder.model());
  ASSERT_TRUE(bounds[0] && bounds[1] && bounds[2]);
  // Of its own messages one may wait from before, and the timer of the other comes once.
  EXPECT_EQ(bounds[0], Duration{6});
  EXPECT_EQ(bounds[1], Duration{3});
  (void)low;
}

/// The reason of the timer of the executor with that number.
std::string reason_of(const model::Model& model, std::size_t number) {
  return analyze(model).callbacks[number].reason;
}

TEST(FixedPriorityThreads, SayWhyTheyHaveNoBound) {
  ModelBuilder builder;
  add_thread(builder, {.priority = 2, .cost = 6, .period = 10});
  add_thread(builder, {.priority = 1, .cost = 5, .period = 10});
  EXPECT_EQ(reason_of(builder.model(), 0), "");
  EXPECT_EQ(reason_of(builder.model(), 1),
            "executor \"e1\" needs 0.50 of a processor, and what goes before it there leaves 0.40");
  model::Model best_effort = builder.model();
  best_effort.executors[1].supply = model::DedicatedSupply{};
  EXPECT_EQ(reason_of(best_effort, 1),
            "\"e1\" shares cpu 0 with \"e0\", and nothing says what is left for it: give each a "
            "reservation, a fixed priority or slots, or one of them another cpu");
  EXPECT_EQ(reason_of(best_effort, 0), "") << "best effort comes after it";
  model::Model threads = builder.model();
  threads.executors[0].kind = multi_threaded;
  threads.executors[0].threads = 2;
  EXPECT_EQ(reason_of(threads, 1),
            "the 2 threads of \"e0\" have a fixed priority on cpu 0, and what several such threads "
            "take is not bounded; give \"e0\" a reservation or another cpu");
  EXPECT_EQ(reason_of(threads, 0), reason_of(threads, 1));
  threads.executors[0].cpu.reset();
  EXPECT_EQ(reason_of(threads, 0),
            "the 2 threads of \"e0\" have a fixed priority, and nothing says on which processors "
            "they run; give it a reservation, or no supply if each has a processor of its own");
  model::Model unknown = builder.model();
  unknown.executors[0].unclassifiable = "it sleeps";
  unknown.callbacks[1].execution_time = {Duration{1}};
  EXPECT_EQ(reason_of(unknown, 1),
            "executor \"e0\" goes before it on cpu 0, and nothing bounds that: executor \"e0\" is "
            "unclassifiable: it sleeps");
}

TEST(FixedPriorityThreads, SayWhoseActivationsHaveNoLimit) {
  ModelBuilder builder;
  const ExecutorIndex elsewhere = builder.executor();
  const CallbackIndex overload = builder.timer(elsewhere, Duration{20}, model::every(Duration{10}));
  const ExecutorIndex high = builder.executor(FixedPrioritySupply{.priority = 2}, events);
  builder.model().executors[high.value()].cpu = 0;
  builder.edge(overload, builder.subscription(high, Duration{1}));
  const ExecutorIndex low = builder.executor(FixedPrioritySupply{.priority = 1}, events);
  builder.model().executors[low.value()].cpu = 0;
  builder.timer(low, Duration{1}, model::every(Duration{100}));
  EXPECT_EQ(reason_of(builder.model(), 2),
            "executor \"e1\" goes before it on cpu 0, and nothing limits how often \"c1\" runs "
            "there: that is activated by \"c0\", which has no bound");
}

/// After a change of what goes before, all that is less urgent is analysed again.
TEST(FixedPriorityThreads, FollowChangesOfOthers) {
  ModelBuilder builder;
  add_thread(builder, {.priority = 3, .cost = 2, .period = 20}, events);
  add_thread(builder, {.priority = 2, .cost = 3, .period = 30}, events);
  add_thread(builder, {.priority = 1, .cost = 4, .period = 40}, events);
  const ExecutorIndex reserved =
      builder.executor(model::ReservationSupply{Duration{1}, Duration{10}, Duration{10}});
  builder.model().executors[reserved.value()].cpu = 0;
  builder.timer(reserved, Duration{1}, model::every(Duration{50}));
  Analyzer analyzer(builder.model());
  (void)analyzer.bounds();
  const auto compare = [&] {
    const Bounds again = analyze(analyzer.model());
    const Bounds& bounds = analyzer.bounds();
    for (std::size_t i = 0; i < again.callbacks.size(); ++i) {
      EXPECT_EQ(bounds.callbacks[i].bound, again.callbacks[i].bound) << i;
    }
  };
  analyzer.set_execution_time(CallbackIndex{0}, {Duration{5}});
  compare();
  analyzer.set_activation(CallbackIndex{1}, model::every(Duration{15}));
  compare();
  analyzer.set_budget(reserved, Duration{3});
  compare();
}

TEST(FixedPriorityThreads, ExplainTheTimeThatOthersTake) {
  ModelBuilder builder;
  add_thread(builder, {.priority = 80, .cost = 2, .period = 10}, events);
  add_thread(builder, {.priority = 50, .cost = 7, .period = 20}, events);
  builder.chain({CallbackIndex{1}});
  const auto explanation = explain(builder.model(), builder.model().chains[0].id);
  ASSERT_TRUE(explanation.has_value());
  Duration sum{0};
  Duration supply{0};
  for (const Explanation::Term& term : explanation->segments[0].terms) {
    sum += term.time;
    if (term.kind == Explanation::Kind::supply) supply += term.time;
  }
  EXPECT_EQ(sum, explanation->bound);
  EXPECT_EQ(supply, Duration{2});
}

/// With so few steps that lines take the place of curves, bounds are no lower.
TEST(FixedPriorityThreads, HaveCoarseBoundsWhenTheEffortIsSpent) {
  ModelBuilder builder;
  add_thread(builder, {.priority = 2, .cost = 2, .period = 10}, events);
  add_thread(builder, {.priority = 1, .cost = 7, .period = 40}, events);
  int coarse = 0;
  for (std::int64_t effort = 1; effort < 60; ++effort) {
    const Bounds bounds = analyze(builder.model(), {.effort = effort});
    const auto& low = bounds.callbacks[1];
    if (std::ranges::count(bounds.coarse, "e1") == 0 || !low.bound) continue;
    ++coarse;
    EXPECT_EQ(low.by, "linear");
    EXPECT_GE(*low.bound, Duration{9});
    EXPECT_LE(*low.bound, Duration{20});
  }
  EXPECT_GT(coarse, 0);
}

TEST(FixedPriorityThreads, AreNotExplored) {
  ModelBuilder builder;
  add_thread(builder, {.priority = 2, .cost = 2, .period = 10}, events);
  const ExecutorIndex low = add_thread(builder, {.priority = 1, .cost = 7, .period = 40}, events);
  builder.timer(low, Duration{1}, model::every(Duration{50}));
  const Bounds bounds = analyze(builder.model(), {.method = Method::exact});
  ASSERT_EQ(bounds.unexplored.size(), 1U);
  EXPECT_EQ(bounds.unexplored[0].executor, "e1");
  EXPECT_EQ(bounds.unexplored[0].reason, "it has no processor of its own");
}

}  // namespace
}  // namespace takt::analysis
