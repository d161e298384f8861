#include <gmock/gmock.h>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/analysis/analyzer.hpp"
#include "takt/analysis/explanation.hpp"
#include "takt/model/inferred_joins.hpp"

/// A join that was inferred makes no bound smaller than it would be without the join, or with it.
namespace takt::analysis {
namespace {

using model::Model;
using model::ModelBuilder;

/// Two timers are joined; what follows is worked on by a subscription on the same executor.
Model fusion(bool inferred) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto left = builder.timer(e, Duration{10}, model::every(Duration{1'000}));
  const auto right = builder.timer(e, Duration{10}, model::every(Duration{1'000}));
  const auto joined = builder.subscription(e, Duration{100});
  const auto sink = builder.subscription(e, Duration{150});
  builder.edge(left, joined);
  builder.edge(right, joined);
  builder.edge(joined, sink);
  builder.join(joined, model::JoinKind::newest, {left, right});
  Model model = builder.model();
  model.chains.push_back({"c", {left, joined, sink}, {}, {}, {}});
  if (inferred) model.joins[0].confidence = 90;
  return model;
}

void expect_same(const Bounds& a, const Bounds& b) {
  EXPECT_EQ(a.callbacks, b.callbacks);
  EXPECT_EQ(a.chains, b.chains);
}

TEST(Readings, TheLargerBoundCounts) {
  const Bounds declared = analyze(fusion(false));
  const Bounds inferred = analyze(fusion(true));
  const auto separated = model::separate_inferred_joins(fusion(true));
  const Bounds separate = analyze(separated.model);
  EXPECT_GT(*separate.chains[0].bound, *declared.chains[0].bound);
  EXPECT_EQ(inferred.chains[0].bound, separate.chains[0].bound);
  EXPECT_EQ(inferred.chains[0].segments[0].callbacks, declared.chains[0].segments[0].callbacks);
  ASSERT_EQ(inferred.callbacks.size(), declared.callbacks.size());
  for (std::size_t i = 0; i < declared.callbacks.size(); ++i) {
    EXPECT_GE(*inferred.callbacks[i].bound, *declared.callbacks[i].bound);
    EXPECT_GE(*inferred.callbacks[i].bound, *separate.callbacks[i].bound);
  }
  // Data waits for the other input under the first reading alone.
  EXPECT_GE(*inferred.chains[0].data_age, *declared.chains[0].data_age);
}

TEST(Readings, AnalyzersGoThroughBothAfterAChange) {
  Analyzer analyzer(fusion(true));
  expect_same(analyzer.bounds(), analyze(analyzer.model()));
  analyzer.set_execution_time(model::CallbackIndex{2}, {Duration{130}});
  expect_same(analyzer.bounds(), analyze(analyzer.model()));
  analyzer.set_activation(model::CallbackIndex{1}, model::every(Duration{900}));
  expect_same(analyzer.bounds(), analyze(analyzer.model()));
}

TEST(Readings, ExplanationIsOfTheLargerBound) {
  const auto explanation = explain(fusion(true), "c");
  ASSERT_TRUE(explanation);
  EXPECT_EQ(explanation->bound, *analyze(fusion(true)).chains[0].bound);
  EXPECT_EQ(explanation->chain, "c");
  for (const auto& segment : explanation->segments) {
    for (const auto& term : segment.terms) EXPECT_EQ(term.callback.find('('), std::string::npos);
  }
}

}  // namespace
}  // namespace takt::analysis
