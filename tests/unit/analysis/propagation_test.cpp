#include "activation/propagation.hpp"

#include <gmock/gmock.h>

#include "model_builder.hpp"
#include "system/system.hpp"
#include "takt/analysis/analyze.hpp"

/// Activation curves as they follow from bounds (ros-llama S-3.2, S-3.4).
namespace takt::analysis {
namespace {

using model::CallbackKind;
using model::ModelBuilder;
using testing::ElementsAre;

/// The curves under bounds that are given instead of computed.
struct Propagated {
  explicit Propagated(const model::Model& model, std::vector<Duration> response)
      : system(model), curves(system) {
    for (const Component& component : system.components) {
      for (const ExecutorIndex executor : component.executors) {
        curves.propagate(executor, response);
      }
    }
  }
  std::vector<std::int64_t> counts(CallbackIndex callback, std::vector<std::int64_t> windows,
                                   bool busy = false) const {
    const auto& curve = busy ? curves.busy_activations(callback) : curves.activations(callback);
    std::vector<std::int64_t> result;
    for (const auto window : windows) result.push_back(curve.count(Duration{window}));
    return result;
  }
  System system;
  Curves curves;
};

TEST(Propagation, SenderOnAnotherExecutorAddsItsResponseAndTheDelay) {
  ModelBuilder builder;
  const auto a = builder.executor();
  const auto b = builder.executor();
  const auto timer = builder.timer(a, Duration{5}, model::every(Duration{100}));
  const auto next = builder.subscription(b, Duration{5});
  builder.edge(timer, next, Duration{7});
  // Def. 1 with R = 31, δ = 7: η(Δ) = ceil((Δ + 37)/100).
  const Propagated propagated(builder.model(), {Duration{31}, Duration{1}});
  EXPECT_THAT(propagated.counts(next, {0, 1, 63, 64, 163, 164}), ElementsAre(0, 1, 1, 2, 2, 3));
  EXPECT_THAT(propagated.counts(next, {0, 1, 63, 64, 163, 164}, true),
              ElementsAre(0, 1, 1, 2, 2, 3));
}

TEST(Propagation, SenderOnTheSameExecutorAddsNoJitterInABusyWindow) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto timer = builder.timer(e, Duration{5}, model::every(Duration{100}));
  const auto next = builder.subscription(e, Duration{5});
  const auto after = builder.subscription(e, Duration{5});
  builder.edge(timer, next);
  builder.edge(next, after);
  const Propagated propagated(builder.model(), {Duration{31}, Duration{11}, Duration{1}});
  EXPECT_THAT(propagated.counts(next, {70, 71, 170, 171}), ElementsAre(1, 2, 2, 3));
  EXPECT_THAT(propagated.counts(after, {60, 61, 160, 161}), ElementsAre(1, 2, 2, 3));
  EXPECT_THAT(propagated.counts(after, {60, 100, 101, 200}, true), ElementsAre(1, 1, 2, 2));
}

TEST(Propagation, OwnActivationsAddToThoseByEdges) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto timer = builder.timer(e, Duration{5}, model::every(Duration{100}));
  const auto both = builder.subscription(e, Duration{5}, model::every(Duration{40}));
  const auto after = builder.subscription(e, Duration{5});
  const auto by_timer = builder.subscription(e, Duration{5});
  builder.edge(timer, both);
  builder.edge(both, after);
  builder.edge(both, by_timer).triggered_by = {timer};
  const Propagated propagated(builder.model(),
                              {Duration{31}, Duration{11}, Duration{1}, Duration{1}});
  // ceil(Δ/40) + ceil((Δ + 30)/100); within busy windows without the timer's jitter.
  EXPECT_THAT(propagated.counts(both, {0, 1, 40, 41, 70, 71, 81}),
              ElementsAre(0, 2, 2, 3, 3, 4, 5));
  EXPECT_THAT(propagated.counts(both, {0, 1, 41, 81, 100, 101}, true),
              ElementsAre(0, 2, 3, 4, 4, 5));
  // Every activation publishes to `after`, with the jitter 10 of `both` itself; only messages of
  // the timer make it publish to `by_timer`.
  EXPECT_THAT(propagated.counts(after, {30, 31, 60, 61}), ElementsAre(2, 3, 3, 4));
  EXPECT_THAT(propagated.counts(by_timer, {30, 31, 60, 61}), ElementsAre(1, 1, 1, 2));
}

TEST(Propagation, OwnActivationsAddToCompleteSetsOfAJoin) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto left = builder.timer(e, Duration{1}, model::every(Duration{100}));
  const auto right = builder.timer(e, Duration{1}, model::every(Duration{100}));
  const auto joined = builder.subscription(e, Duration{1}, model::every(Duration{50}));
  builder.edge(left, joined);
  builder.edge(right, joined);
  builder.join(joined, model::JoinKind::and_, {left, right});
  const Propagated propagated(builder.model(), std::vector(3, Duration{1}));
  for (const bool busy : {false, true}) {
    EXPECT_THAT(propagated.counts(joined, {1, 50, 51, 100, 101}, busy), ElementsAre(2, 2, 3, 3, 5));
  }
}

TEST(Propagation, DelayWithinAnExecutorIsTreatedAsFromElsewhere) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto timer = builder.timer(e, Duration{5}, model::every(Duration{100}));
  const auto next = builder.subscription(e, Duration{5});
  builder.edge(timer, next, Duration{9});
  const Propagated propagated(builder.model(), {Duration{31}, Duration{1}});
  EXPECT_THAT(propagated.counts(next, {61, 62}, true), ElementsAre(1, 2));
}

/// c1, c2 → c3 → {c4, c5}; messages from c2 never reach c5.
TEST(RosLlamaFact, F39_TriggerSetsOfTheExample) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto c1 = builder.timer(e, Duration{1}, model::every(Duration{100}));
  const auto c2 = builder.timer(e, Duration{1}, model::every(Duration{100}));
  const auto c3 = builder.subscription(e, Duration{1});
  const auto c4 = builder.subscription(e, Duration{1});
  const auto c5 = builder.subscription(e, Duration{1});
  builder.edge(c1, c3);
  builder.edge(c2, c3);
  builder.edge(c3, c4);
  builder.edge(c3, c5).triggered_by = {c1};
  const Propagated propagated(builder.model(), std::vector(5, Duration{1}));
  for (const bool busy : {false, true}) {
    EXPECT_THAT(propagated.counts(c3, {1, 101}, busy), ElementsAre(2, 4));
    EXPECT_THAT(propagated.counts(c4, {1, 101}, busy), ElementsAre(2, 4));
    EXPECT_THAT(propagated.counts(c5, {1, 101}, busy), ElementsAre(1, 2));
  }
}

TEST(RosLlamaFact, F16_SelfPublisherActivatesItselfOncePerMessage) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto timer = builder.timer(e, Duration{10}, model::every(Duration{1000}));
  const auto self = builder.subscription(e, Duration{20});
  builder.edge(timer, self);
  builder.edge(self, self).triggered_by = {timer};
  const Propagated propagated(builder.model(), {Duration{1}, Duration{1}});
  EXPECT_THAT(propagated.counts(self, {1, 1001}), ElementsAre(2, 4));
  const Bounds bounds = analyze(builder.model());
  EXPECT_TRUE(bounds.converged);
  // All of the timer's and both own instances fit into the busy window 10 + 20 + 20; the first own
  // instance cannot be activated before the window begins.
  EXPECT_EQ(bounds.callbacks[1].bound, Duration{50});
}

TEST(RosLlamaFact, F17_ServiceRepliesOnlyToTheClientThatAsked) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto slow = builder.timer(e, Duration{1}, model::every(Duration{1000}));
  const auto fast = builder.timer(e, Duration{1}, model::every(Duration{10}));
  const auto service = builder.callback(e, CallbackKind::service, {Duration{1}});
  const auto slow_client = builder.callback(e, CallbackKind::client, {Duration{1}});
  const auto fast_client = builder.callback(e, CallbackKind::client, {Duration{1}});
  builder.edge(slow, service);
  builder.edge(fast, service);
  builder.edge(service, slow_client).triggered_by = {slow};
  builder.edge(service, fast_client).triggered_by = {fast};
  const Propagated propagated(builder.model(), std::vector(5, Duration{1}));
  EXPECT_THAT(propagated.counts(service, {100}), ElementsAre(11));
  EXPECT_THAT(propagated.counts(slow_client, {100}), ElementsAre(1));
  EXPECT_THAT(propagated.counts(fast_client, {100}), ElementsAre(10));
}

TEST(Propagation, TermsOfOneSourceWithEqualShiftAreMerged) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto timer = builder.timer(e, Duration{1}, model::every(Duration{100}));
  const auto left = builder.subscription(e, Duration{1});
  const auto right = builder.subscription(e, Duration{1});
  const auto bottom = builder.subscription(e, Duration{1});
  for (const auto side : {left, right}) {
    builder.edge(timer, side);
    builder.edge(side, bottom);
  }
  const Propagated propagated(builder.model(), std::vector(4, Duration{5}));
  ASSERT_EQ(propagated.curves.activations(bottom).terms().size(), 1U);
  EXPECT_EQ(propagated.curves.activations(bottom).terms()[0].multiplicity, 2);
}

/// A ladder of diamonds doubles the number of paths at every rung; the curve stays small and counts
/// every path.
TEST(Propagation, ExponentiallyManyPathsStaySmall) {
  ModelBuilder builder;
  const auto e = builder.executor();
  auto top = builder.timer(e, Duration{1}, model::every(Duration{1'000'000'000}));
  std::vector<Duration> response{Duration{1}};
  for (int rung = 0; rung < 70; ++rung) {
    const auto left = builder.subscription(e, Duration{1});
    const auto right = builder.subscription(e, Duration{1});
    const auto bottom = builder.subscription(e, Duration{1});
    for (const auto side : {left, right}) {
      builder.edge(top, side);
      builder.edge(side, bottom);
    }
    // Different bounds on both sides, so that no two paths have equal jitter.
    response.insert(response.end(), {Duration{1}, Duration{1 + (1LL << (rung % 20))}, Duration{1}});
    top = bottom;
  }
  const Propagated propagated(builder.model(), response);
  EXPECT_LE(propagated.curves.activations(top).terms().size(), curves::DerivedCurve::most_terms);
  EXPECT_EQ(propagated.curves.activations(top).count(Duration{1}), INT64_MAX);
  EXPECT_FALSE(analyze(builder.model()).converged);
}

}  // namespace
}  // namespace takt::analysis
