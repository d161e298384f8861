// A limit on the work of searches: bounds always come. That the coarse ones are never too small is
// shown by every soundness hunt (tests/support/soundness.cpp).

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/analysis/explanation.hpp"
#include "takt/model/model.hpp"
#include "takt/model/names.hpp"

namespace takt::analysis {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t plenty = std::int64_t{1} << 40;

/// `count` timers of coprime periods on one executor, which together need `percent` of it.
model::Model independent(model::ExecutorKind kind, std::int64_t count, std::int64_t percent) {
  model::Model model;
  model::Executor& executor = model.executors.emplace_back();
  executor.id = "e0";
  executor.kind = kind;
  for (std::int64_t i = 0; i < count; ++i) {
    const Duration period = milliseconds{10} + nanoseconds{(i * i * 7919) % 900'000'007};
    model::Callback& callback = model.callbacks.emplace_back();
    callback.id = fmt::format("c{}", i);
    callback.executor = model::ExecutorIndex{0};
    callback.kind = model::CallbackKind::timer;
    callback.registration = i;
    callback.execution_time = {std::max(epsilon, period * percent / (100 * count))};
    callback.activation = model::PeriodicActivation{period, {}};
    callback.priority = count - i;
    if (kind == model::ExecutorKind::edf) callback.deadline = period;
  }
  return model;
}

/// A chain that passes through each of some executors in turn, `length` callbacks long.
model::Model chain(model::ExecutorKind kind, std::size_t length, std::size_t executors) {
  model::Model model;
  for (std::size_t e = 0; e < executors; ++e) {
    model::Executor& executor = model.executors.emplace_back();
    executor.id = fmt::format("e{}", e);
    executor.kind = kind;
  }
  model::Chain& whole = model.chains.emplace_back();
  whole.id = "whole";
  for (std::size_t i = 0; i < length; ++i) {
    model::Callback& callback = model.callbacks.emplace_back();
    callback.id = fmt::format("c{}", i);
    callback.executor = model::ExecutorIndex{i * executors / length};
    callback.kind = i == 0 ? model::CallbackKind::timer : model::CallbackKind::subscription;
    callback.registration = static_cast<std::int64_t>(i);
    callback.execution_time = {nanoseconds{1000}};
    if (i == 0) callback.activation = model::PeriodicActivation{milliseconds{100}, {}};
    if (i > 0) {
      model::Edge edge;
      edge.from = model::CallbackIndex{i - 1};
      edge.to = model::CallbackIndex{i};
      model.edges.push_back(edge);
    }
    whole.callbacks.emplace_back(i);
  }
  return model;
}

/// Joins of which each joins the one before with a source of its own.
model::Model nested_joins(model::JoinKind kind, std::size_t count) {
  model::Model model;
  model.executors.emplace_back().id = "e0";
  const auto add = [&](bool source) {
    model::Callback& callback = model.callbacks.emplace_back();
    const std::size_t index = model.callbacks.size() - 1;
    callback.id = fmt::format("c{}", index);
    callback.executor = model::ExecutorIndex{0};
    callback.kind = source ? model::CallbackKind::timer : model::CallbackKind::subscription;
    callback.registration = static_cast<std::int64_t>(index);
    callback.execution_time = {nanoseconds{100}};
    if (source) callback.activation = model::PeriodicActivation{milliseconds{100}, {}};
    return model::CallbackIndex{index};
  };
  const auto send = [&](model::CallbackIndex from, model::CallbackIndex to) {
    model::Edge edge;
    edge.from = from;
    edge.to = to;
    model.edges.push_back(edge);
  };
  model::CallbackIndex before = add(true);
  for (std::size_t i = 0; i < count; ++i) {
    const model::CallbackIndex other = add(true);
    const model::CallbackIndex joining = add(false);
    send(before, joining);
    send(other, joining);
    model.joins.push_back({.callback = joining, .kind = kind, .inputs = {before, other}});
    before = joining;
  }
  return model;
}

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
  for (const model::Model& model : models) {
    const Bounds bounds = analyze(model, {.effort = limit});
    // For the analysis of each executor, for the coarse one, and for the chain.
    EXPECT_LE(bounds.steps, 3 * limit)
        << model::to_string(model.executors.front().kind) << " " << model.callbacks.size();
    EXPECT_EQ(bounds.callbacks.size(), model.callbacks.size());
  }
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
