#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"

/// Bounds say at which joins messages may wait as no bound counts them.
namespace takt::analysis {
namespace {

using model::ExecutorKind;
using model::JoinKind;
using model::ModelBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

/// Messages of a source in bursts of three are joined with those of a timer.
struct Fusion {
  ExecutorKind kind = ExecutorKind::single_threaded;
  JoinKind join = JoinKind::newest;
  /// Between two messages of a burst.
  Duration distance{0};
  std::optional<std::int64_t> queue_depth{};
  std::optional<std::int64_t> confidence{};

  [[nodiscard]] std::vector<std::string> queueing() const {
    ModelBuilder builder;
    const auto e = builder.executor(model::DedicatedSupply{}, kind);
    const auto source = builder.event_source(
        Duration{5},
        model::MinDistanceActivation{{Duration{0}, distance, 2 * distance, Duration{1000}}});
    const auto timer =
        builder.timer(builder.executor(), Duration{5}, model::every(Duration{1'000}));
    const auto joined = builder.subscription(e, Duration{100});
    builder.edge(source, joined);
    builder.edge(timer, joined);
    builder.join(joined, join, {source, timer});
    model::Model model = builder.model();
    model.callbacks[joined.value()].queue_depth = queue_depth;
    model.joins[0].confidence = confidence;
    const Bounds bounds = analyze(model);
    EXPECT_TRUE(bounds.converged);
    return bounds.queueing_joins;
  }
};

TEST(QueueingJoins, AreThoseWhereMessagesOfAnInputWaitSideBySide) {
  for (const ExecutorKind kind : {ExecutorKind::single_threaded, ExecutorKind::multi_threaded}) {
    EXPECT_THAT(Fusion{.kind = kind}.queueing(), ElementsAre("c2"));
  }
  EXPECT_THAT((Fusion{.distance = Duration{300}}.queueing()), IsEmpty()) << "far enough apart";
}

TEST(QueueingJoins, QueuesOfOneMessageAreNone) {
  EXPECT_THAT(Fusion{.queue_depth = 1}.queueing(), IsEmpty());
  EXPECT_THAT(Fusion{.queue_depth = 2}.queueing(), ElementsAre("c2"));
}

TEST(QueueingJoins, WhatTakesMessagesAsTheyComeHasNone) {
  EXPECT_THAT(Fusion{.kind = ExecutorKind::events}.queueing(), IsEmpty());
}

/// In an `and` join no message replaces another, and the reading without an inferred join covers
/// it.
TEST(QueueingJoins, OtherJoinsAreNone) {
  EXPECT_THAT(Fusion{.join = JoinKind::and_}.queueing(), IsEmpty());
  EXPECT_THAT(Fusion{.confidence = 90}.queueing(), IsEmpty());
}

}  // namespace
}  // namespace takt::analysis
