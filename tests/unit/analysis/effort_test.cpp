// A limit on the work of searches: bounds always come. That the coarse ones are never too small is
// shown by every soundness hunt (tests/support/soundness.cpp).

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/analysis/explanation.hpp"
#include "takt/model/model.hpp"
#include "takt/model/names.hpp"
#include "takt/shapes/shapes.hpp"

namespace takt::analysis {
namespace {

using shapes::chain;
using shapes::confluence;
using shapes::independent;
using shapes::nested_joins;
using shapes::structured;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t plenty = std::int64_t{1} << 40;

TEST(Effort, AModelThatTakesTooMuchIsBoundedCoarsely) {
  const model::Model model = independent(model::ExecutorKind::events, 300, 50);
  const Bounds exact = analyze(model, {.effort = plenty});
  EXPECT_THAT(exact.coarse, IsEmpty());
  const Bounds coarse = analyze(model, {.effort = 2000});
  EXPECT_THAT(coarse.coarse, ElementsAre("e0"));
  EXPECT_LE(coarse.steps, 2 * 2000) << "for the executor's own analysis, and for the coarse one";
  EXPECT_TRUE(coarse.converged);
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    EXPECT_EQ(coarse.callbacks[i].by, "linear");
    EXPECT_GE(coarse.callbacks[i].bound, exact.callbacks[i].bound);
  }
}

/// A window may have the small slot alone, and waits for both gaps.
TEST(Effort, CoarseBoundsWaitForEachGapBetweenSlots) {
  model::ModelBuilder builder;
  const auto e = builder.executor(model::SlotSupply{
      Duration{1000}, {{Duration{0}, Duration{100}}, {Duration{600}, Duration{610}}}});
  for (int i = 0; i < 4; ++i) builder.timer(e, Duration{5}, model::every(Duration{1'000'000}));
  const Bounds coarse = analyze(builder.model(), {.effort = 100});
  ASSERT_THAT(coarse.coarse, ElementsAre("e0"));
  // 490 and 390 without supply, 10 in the small slot, and the last 10 of 20.
  EXPECT_GE(coarse.callbacks.back().bound, Duration{900});
}

TEST(Effort, PrioritiesCountInCoarseBoundsToo) {
  const model::Model model = independent(model::ExecutorKind::fixed_priority, 300, 99);
  const Bounds coarse = analyze(model, {.effort = 2000});
  ASSERT_THAT(coarse.coarse, ElementsAre("e0"));
  for (std::size_t i = 1; i < model.callbacks.size(); ++i) {
    EXPECT_LE(coarse.callbacks[i - 1].bound, coarse.callbacks[i].bound);
  }
  EXPECT_LT(*coarse.callbacks.front().bound * 10, *coarse.callbacks.back().bound);
}

/// Near saturation and of any size. Each of these searches once took minutes, or did not end.
TEST(Effort, StepsAreLimitedWhateverTheModel) {
  using Kind = model::ExecutorKind;
  constexpr std::int64_t limit = 1'000'000;
  std::vector<model::Model> models;
  for (const Kind kind :
       {Kind::single_threaded, Kind::multi_threaded, Kind::events, Kind::fixed_priority, Kind::edf,
        Kind::chain_priority, Kind::graph_aware}) {
    models.push_back(independent(kind, 10'000, 50));
    models.push_back(independent(kind, 2'000, 99));
    models.push_back(chain(kind, 2'000, 10));
  }
  models.push_back(nested_joins(model::JoinKind::newest, 400));
  models.push_back(nested_joins(model::JoinKind::and_, 400));
  for (const Kind kind : {Kind::single_threaded, Kind::multi_threaded, Kind::events}) {
    models.push_back(structured(kind, shapes::Structure::nested_joins, 3'000, 99));
  }
  models.push_back(confluence(Kind::events, 2'000));
  for (const model::Model& model : models) {
    const Bounds bounds = analyze(model, {.effort = limit});
    // For the analysis of each executor, for the coarse one, and for the chain.
    EXPECT_LE(bounds.steps, 3 * limit)
        << model::to_string(model.executors.front().kind) << " " << model.callbacks.size();
    EXPECT_EQ(bounds.callbacks.size(), model.callbacks.size());
  }
}

/// Small models that are near saturation would take all of the effort, and be hardly better for it.
TEST(Effort, NoCallbackHasMoreThanATwoHundredth) {
  const model::Model model = independent(model::ExecutorKind::events, 100, 99);
  const std::int64_t needed = analyze(model, {.effort = plenty}).steps;
  ASSERT_GT(needed, 200 * 1000) << "more than there always is";
  const auto coarse = [&](std::int64_t effort) {
    return analyze(model, {.effort = effort}).coarse;
  };
  EXPECT_THAT(coarse(needed + needed / 2), ElementsAre("e0"));
  EXPECT_THAT(coarse(2 * needed + 1000), IsEmpty());
}

/// They took 42 s and 67 s when curves of joins were sums of all that is joined, and nobody counted
/// what it takes to derive and to evaluate them; and they had no bounds.
TEST(Effort, JoinsOfJoinsAreBoundedInSomeStepsEach) {
  using Kind = model::ExecutorKind;
  const auto bounds_of = [](Kind kind, std::size_t callbacks, std::int64_t percent,
                            std::int64_t effort) {
    const Bounds bounds = analyze(
        structured(kind, shapes::Structure::nested_joins, callbacks, percent), {.effort = effort});
    EXPECT_TRUE(bounds.converged) << model::to_string(kind);
    return bounds;
  };
  constexpr std::int64_t limit = 20'000'000;
  for (const Kind kind : {Kind::single_threaded, Kind::multi_threaded}) {
    EXPECT_LE(bounds_of(kind, 100, 99, plenty).steps, 6'000'000);
    EXPECT_LE(bounds_of(kind, 1000, 99, limit).steps, 2 * limit);
  }
  // Of each callback, every other one is looked at some times.
  const std::int64_t some = bounds_of(Kind::events, 100, 50, plenty).steps;
  EXPECT_GE(some, 100 * 100);
  EXPECT_LE(bounds_of(Kind::events, 200, 50, plenty).steps, 4 * some + some / 4);
  EXPECT_LE(bounds_of(Kind::events, 3000, 50, limit).steps, 2 * limit);
}

/// To derive curves is work like any other: where it takes too much, simpler ones are derived.
TEST(Effort, DerivingCurvesIsWork) {
  const model::Model model = confluence(model::ExecutorKind::events, 200);
  const Bounds exact = analyze(model, {.effort = plenty});
  EXPECT_THAT(exact.coarse, IsEmpty());
  const Bounds coarse = analyze(model, {.effort = 200'000});
  EXPECT_THAT(coarse.coarse, ElementsAre("e0"));
  EXPECT_LE(coarse.steps, 2 * 200'000);
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    ASSERT_TRUE(coarse.callbacks[i].bound.has_value());
    EXPECT_EQ(coarse.callbacks[i].by, "linear");
    EXPECT_GE(coarse.callbacks[i].bound, exact.callbacks[i].bound);
  }
}

TEST(Effort, NothingToBoundTakesNone) {
  model::Model model;
  model.executors.emplace_back().id = "e0";
  const Bounds bounds = analyze(model);
  EXPECT_TRUE(bounds.callbacks.empty());
  EXPECT_TRUE(bounds.coarse.empty());
}

TEST(Effort, ACoarseBoundIsExplainedExactly) {
  for (const auto kind : {model::ExecutorKind::events, model::ExecutorKind::fixed_priority}) {
    const model::Model model = chain(kind, 40, 1);
    const Options options{.effort = 500};
    const Bounds bounds = analyze(model, options);
    ASSERT_THAT(bounds.coarse, ElementsAre("e0"));
    const auto explanation = explain(model, "whole", options);
    ASSERT_TRUE(explanation.has_value()) << explanation.error().message;
    EXPECT_EQ(explanation->bound, bounds.chains[0].bound);
    for (const auto& segment : explanation->segments) {
      Duration sum{0};
      for (const auto& term : segment.terms) sum += term.time;
      EXPECT_EQ(sum, segment.bound);
    }
  }
}

}  // namespace
}  // namespace takt::analysis
