#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "exploration/passed.hpp"
#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/base/isolated.hpp"

/// How much memory an exploration of schedules takes, and what it must not leave out.
namespace takt::analysis {
namespace {

/// Each state includes the one before, which has been looked at, and takes its place.
TEST(Passed, CountsTheMemoryOfAReplacedStateOnce) {
  constexpr std::size_t columns = 300;
  constexpr int more_than_fit = 2000;  // 700 kB each
  Effort effort;
  effort.allow(std::numeric_limits<std::int64_t>::max());
  Passed passed(false, effort);
  Passed::Next next;
  for (int n = 0; n < more_than_fit; ++n) {
    Zone zone(columns);
    for (Zone::Column a = 0; a < columns; ++a) {
      for (Zone::Column b = 0; b < columns; ++b) {
        if (a != b) zone.set(a, b, n);
      }
    }
    passed.add({.key = {1}, .zone = std::move(zone)}, 0);
    ASSERT_TRUE(passed.take(next));
    ASSERT_EQ(next.zone.most(0, 1), n);
  }
}

/// Twenty messages that an instance may send or not: a million ways to go on.
TEST(Exploration, GivesUpBeforeChoicesFillTheMemory) {
  const auto explored = [](const Output& give) {
    model::ModelBuilder builder;
    const auto sender = builder.executor(model::DedicatedSupply{}, model::ExecutorKind::events);
    const auto timer = builder.timer(sender, Duration{10}, model::every(Duration{10'000}));
    for (int n = 0; n < 20; ++n) {
      auto& edge = builder.edge(timer, builder.subscription(sender, Duration{1}));
      edge.messages = 1;
      edge.instances = 2;
    }
    const auto bounds =
        analyze(builder.model(), {.method = Method::exact, .effort = 40'000'000'000});
    const std::string bounded = bounds.callbacks[0].bound ? "bounded" : "without bound";
    give(std::as_bytes(std::span(bounded)));
  };
  EXPECT_EQ(isolated(explored, {.memory = std::size_t{768} << 20}), "bounded");
}

/// A timer's own activations do not make it publish along an edge with a trigger set. If they did,
/// the message would complete the join at once, and none would come just before the timer.
TEST(Exploration, ATimerNeedNotPublishAlongAnEdgeWithATriggerSet) {
  model::ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, model::ExecutorKind::fixed_priority);
  const auto at = [](std::int64_t period, std::int64_t phase) {
    return model::PeriodicActivation{.period = Duration{period}, .phase = Duration{phase}};
  };
  const auto timer = builder.timer(e, Duration{1}, at(78, 52));
  const auto service = builder.callback(e, model::CallbackKind::service, {Duration{1}}, at(96, 3));
  const auto join = builder.subscription(e, Duration{1});
  builder.edge(timer, service).triggered_by.emplace();
  builder.edge(timer, join);
  builder.edge(service, join);
  builder.join(join, model::JoinKind::newest, {timer, service});
  // The service is activated at 675, the join at 676, as is the timer.
  EXPECT_EQ(analyze(builder.model(), {.method = Method::exact}).callbacks[0].bound, Duration{2});
}

}  // namespace
}  // namespace takt::analysis
