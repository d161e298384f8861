// Bounds by windows that know who sends to whom (docs/analysis-theory.md, "Narrower windows").
// That they are never too small is shown by the soundness tests and hunts.

#include <gmock/gmock.h>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/generation/random_model.hpp"

namespace takt::analysis {
namespace {

using model::every;
using model::ExecutorKind;
using model::ModelBuilder;

constexpr Duration seldom{1000};

/// A random model in some hundreds is searched up to the limit of the steps, which is lower here.
Bounds bounds_of(const model::Model& model, Method method) {
  return analyze(model, {.method = method, .effort = 10'000'000});
}
Bounds tight(const model::Model& model) { return bounds_of(model, Method::tight); }
Bounds combined(const model::Model& model) { return bounds_of(model, Method::combined); }

/// What the first callback of a chain costs is over when the last one is activated.
TEST(Tight, WhatHadToRunBeforeDoesNotDelay) {
  ModelBuilder builder;
  const auto e = builder.executor({}, ExecutorKind::events);
  const auto first = builder.timer(e, Duration{10}, every(seldom));
  const auto second = builder.subscription(e, Duration{5});
  const auto third = builder.subscription(e, Duration{1});
  builder.chain({first, second, third});
  EXPECT_EQ(tight(builder.model()).callbacks[2].bound, Duration{5 + 1});
  EXPECT_EQ(combined(builder.model()).callbacks[2].bound, Duration{10 + 5 + 1});
}

/// A window of a level has no more of an urgent callback than its less urgent sender, which runs
/// once, sends.
TEST(Tight, ASenderOutsideOfTheLevelRunsOnce) {
  ModelBuilder builder;
  const auto e = builder.executor({}, ExecutorKind::fixed_priority);
  const auto sender = builder.timer(
      e, Duration{10}, model::PeriodicActivation{.period = Duration{50}, .jitter = Duration{200}});
  const auto urgent = builder.subscription(e, Duration{7});
  const auto victim = builder.timer(e, Duration{1}, every(seldom));
  builder.edge(sender, urgent);
  builder.model().callbacks[sender.value()].priority = 1;
  builder.model().callbacks[victim.value()].priority = 2;
  builder.model().callbacks[urgent.value()].priority = 3;
  EXPECT_EQ(tight(builder.model()).callbacks[victim.value()].bound, Duration{10 + 7 + 1});
  EXPECT_GT(combined(builder.model()).callbacks[victim.value()].bound, Duration{10 + 7 + 1});
}

/// What is first in the processing window has had its turn when the last one sends.
TEST(Tight, TheWindowHasComeToTheSender) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto before = builder.timer(e, Duration{20}, every(Duration{100}));
  const auto sender = builder.timer(e, Duration{3}, every(seldom));
  const auto receiver = builder.subscription(e, Duration{2});
  builder.edge(sender, receiver);
  // `before` goes first once more, in the next window: not in both.
  EXPECT_EQ(tight(builder.model()).callbacks[receiver.value()].bound, Duration{3 + 20 + 2});
  EXPECT_EQ(before.value(), 0U);
}

TEST(Tight, AChainEndsWithItsWindow) {
  for (const ExecutorKind kind : {ExecutorKind::events, ExecutorKind::fixed_priority}) {
    ModelBuilder builder;
    const auto e = builder.executor({}, kind);
    const auto first = builder.timer(e, Duration{10}, every(seldom));
    const auto second = builder.subscription(e, Duration{5});
    builder.timer(e, Duration{30}, every(seldom));
    builder.chain({first, second});
    EXPECT_EQ(tight(builder.model()).chains[0].bound, Duration{10 + 5 + 30});
  }
}

TEST(Tight, IsNeverAboveCombined) {
  for (const ExecutorKind kind :
       {ExecutorKind::single_threaded, ExecutorKind::events, ExecutorKind::fixed_priority,
        ExecutorKind::edf, ExecutorKind::chain_priority, ExecutorKind::graph_aware,
        ExecutorKind::multi_threaded, ExecutorKind::table_driven}) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      const model::Model model = generation::random_model(generation::any_model(kind), seed);
      const Bounds before = combined(model);
      const Bounds after = tight(model);
      for (std::size_t i = 0; i < before.callbacks.size(); ++i) {
        if (!before.callbacks[i].bound) continue;
        ASSERT_TRUE(after.callbacks[i].bound.has_value()) << seed;
        EXPECT_LE(after.callbacks[i].bound, before.callbacks[i].bound) << seed;
      }
      for (std::size_t i = 0; i < before.chains.size(); ++i) {
        if (!before.chains[i].bound) continue;
        ASSERT_TRUE(after.chains[i].bound.has_value()) << seed;
        EXPECT_LE(after.chains[i].bound, before.chains[i].bound) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace takt::analysis
