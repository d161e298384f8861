#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "exploration/passed.hpp"
#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/base/isolated.hpp"

/// How much memory an exploration of schedules takes.
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

}  // namespace
}  // namespace takt::analysis
