#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>

#include "activation/propagation.hpp"
#include "model_builder.hpp"
#include "system/system.hpp"
#include "takt/shapes/shapes.hpp"

/// The activation bounds of joins: sound against the rule itself on random messages, and never
/// above the sum of the inputs.
namespace takt::analysis {
namespace {

using model::JoinKind;
using model::ModelBuilder;

using Times = std::vector<std::int64_t>;

/// Random times that respect at most ceil((Δ + jitter)/period) in any window.
Times random_arrivals(std::mt19937& random, std::int64_t period, std::int64_t jitter) {
  Times times;
  const std::int64_t phase = static_cast<std::int64_t>(random()) % period;
  for (int k = 0; k < 40; ++k) {
    times.push_back(phase + k * period + static_cast<std::int64_t>(random()) % (jitter + 1));
  }
  std::ranges::sort(times);
  return times;
}

/// When the joining callback is activated, by the rule itself.
Times activations(JoinKind kind, const std::vector<Times>& inputs) {
  struct Message {
    std::int64_t time;
    std::size_t input;
  };
  std::vector<Message> messages;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const auto time : inputs[i]) messages.push_back({time, i});
  }
  std::ranges::stable_sort(messages, {}, &Message::time);
  std::vector<int> waiting(inputs.size(), 0);
  Times result;
  for (const auto& [time, input] : messages) {
    waiting[input] = kind == JoinKind::and_ ? waiting[input] + 1 : 1;
    if (std::ranges::count(waiting, 0) > 0) continue;
    for (int& w : waiting) w = kind == JoinKind::and_ ? w - 1 : 0;
    result.push_back(time);
  }
  return result;
}

std::int64_t most_in_window(const Times& times, std::int64_t window) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto end = std::ranges::lower_bound(times, times[i] + window);
    most = std::max(most,
                    static_cast<std::int64_t>(end - times.begin()) - static_cast<std::int64_t>(i));
  }
  return most;
}

class JoinBound : public testing::TestWithParam<JoinKind> {};

TEST_P(JoinBound, CoversEveryRunAndStaysBelowTheSumOfTheInputs) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    ModelBuilder builder;
    const auto e = builder.executor();
    const auto joined = builder.subscription(e, Duration{1});
    std::vector<model::CallbackIndex> inputs;
    std::vector<Times> arrivals;
    const std::size_t size = 2 + random() % 2;
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t period = 5 + static_cast<std::int64_t>(random() % 30);
      const std::int64_t jitter = static_cast<std::int64_t>(random() % 40);
      inputs.push_back(builder.event_source(
          Duration{1}, model::PeriodicActivation{Duration{period}, Duration{jitter}}));
      builder.edge(inputs.back(), joined);
      arrivals.push_back(random_arrivals(random, period, jitter));
    }
    builder.join(joined, GetParam(), inputs);
    const System system(builder.model());
    Curves curves(system);
    const std::vector<Duration> response(system.tasks.size(), Duration{1});
    for (const Component& component : system.components) {
      for (const ExecutorIndex executor : component.executors) curves.propagate(executor, response);
    }
    const Times happened = activations(GetParam(), arrivals);
    for (std::int64_t window = 1; window < 300; window += 7) {
      const auto bound = curves.activations(joined).count(Duration{window});
      ASSERT_LE(most_in_window(happened, window), bound);
      std::int64_t sum = 0;
      for (const auto input : inputs) {
        sum += curves.activations(input).count(Duration{window});
      }
      ASSERT_LE(bound, sum);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, JoinBound, testing::Values(JoinKind::and_, JoinKind::newest),
                         [](const auto& test) {
                           return test.param == JoinKind::and_ ? "and" : "newest";
                         });

struct JoinOfTwo {
  explicit JoinOfTwo(JoinKind kind) {
    const auto e = builder.executor();
    fast = builder.event_source(Duration{1}, model::every(Duration{10}));
    slow = builder.event_source(Duration{1}, model::every(Duration{100}));
    joined = builder.subscription(e, Duration{1});
    next = builder.subscription(e, Duration{1});
    builder.edge(fast, joined);
    builder.edge(slow, joined);
    builder.edge(joined, next);
    builder.join(joined, kind, {fast, slow});
  }
  std::int64_t count(model::CallbackIndex callback, std::int64_t window) {
    const System system(builder.model());
    Curves curves(system);
    const std::vector<Duration> response(system.tasks.size(), Duration{1});
    for (const Component& component : system.components) {
      for (const ExecutorIndex executor : component.executors) curves.propagate(executor, response);
    }
    return curves.activations(callback).count(Duration{window});
  }
  ModelBuilder builder;
  model::CallbackIndex fast, slow, joined, next;
};

TEST(Joins, AndIsLimitedByItsFastestInput) {
  JoinOfTwo join(JoinKind::and_);
  EXPECT_EQ(join.count(join.joined, 1000), 100);
  EXPECT_EQ(join.count(join.next, 1000), 100);
}

TEST(Joins, NewestIsLimitedByItsSlowestInputPlusOne) {
  JoinOfTwo join(JoinKind::newest);
  EXPECT_EQ(join.count(join.joined, 1), 1);
  EXPECT_EQ(join.count(join.joined, 50), 2);
  EXPECT_EQ(join.count(join.joined, 1000), 11);
  EXPECT_EQ(join.count(join.next, 1000), 11);
}

TEST(Joins, TriggerSetWithSomeInputsIsLimitedByThoseToo) {
  JoinOfTwo join(JoinKind::and_);
  join.builder.model().edges[2].triggered_by = {join.slow};
  EXPECT_EQ(join.count(join.next, 1000), 10);
  join.builder.model().edges[2].triggered_by = {join.slow, join.fast};
  EXPECT_EQ(join.count(join.next, 1000), 100);
  join.builder.model().edges[2].triggered_by = std::vector<model::CallbackIndex>{};
  EXPECT_EQ(join.count(join.next, 1000), 0);
}

TEST(Joins, OtherMessagesOfAJoiningCallbackAddUp) {
  JoinOfTwo join(JoinKind::newest);
  const auto other = join.builder.event_source(Duration{1}, model::every(Duration{500}));
  join.builder.edge(other, join.joined);
  EXPECT_EQ(join.count(join.joined, 1000), 13);
}

/// Fusions of fusions: each rung refers to the one above twice, yet evaluation stays quick.
TEST(Joins, LadderOfJoinsStaysSmall) {
  for (const JoinKind kind : {JoinKind::and_, JoinKind::newest}) {
    ModelBuilder builder;
    const auto e = builder.executor();
    auto top = builder.timer(e, Duration{1}, model::every(Duration{1'000'000}));
    std::vector<Duration> response{Duration{1}};
    for (int rung = 0; rung < 60; ++rung) {
      const auto left = builder.subscription(e, Duration{1});
      const auto right = builder.subscription(e, Duration{1});
      const auto bottom = builder.subscription(e, Duration{1});
      for (const auto side : {left, right}) {
        builder.edge(top, side);
        builder.edge(side, bottom);
      }
      builder.join(bottom, kind, {left, right});
      response.insert(response.end(), {Duration{1}, Duration{1 + rung}, Duration{1}});
      top = bottom;
    }
    const System system(builder.model());
    Curves curves(system);
    for (const Component& component : system.components) {
      for (const ExecutorIndex executor : component.executors) curves.propagate(executor, response);
    }
    EXPECT_EQ(curves.activations(top).count(Duration{1}), 1);
  }
}

/// Deeper than they are followed: joins of the one before with a source each.
class DeepJoins : public testing::TestWithParam<JoinKind> {};

TEST_P(DeepJoins, CoverEveryRun) {
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    ModelBuilder builder;
    const auto e = builder.executor();
    const auto source = [&](std::vector<Times>& arrivals) {
      const std::int64_t period = 5 + static_cast<std::int64_t>(random() % 30);
      const std::int64_t jitter = static_cast<std::int64_t>(random() % 40);
      arrivals.push_back(random_arrivals(random, period, jitter));
      return builder.event_source(Duration{1},
                                  model::PeriodicActivation{Duration{period}, Duration{jitter}});
    };
    std::vector<model::CallbackIndex> joined;
    std::vector<Times> happened;
    std::vector<Times> first;
    auto before = source(first);
    for (int level = 0; level < 20; ++level) {
      std::vector<Times> inputs{level == 0 ? first.front() : happened.back()};
      const auto other = source(inputs);
      joined.push_back(builder.subscription(e, Duration{1}));
      for (const auto input : {before, other}) builder.edge(input, joined.back());
      builder.join(joined.back(), GetParam(), {before, other});
      happened.push_back(activations(GetParam(), inputs));
      before = joined.back();
    }
    const System system(builder.model());
    for (const std::size_t most : {curves::DerivedCurve::most_terms, std::size_t{3}}) {
      Curves curves(system);
      const std::vector<Duration> response(system.tasks.size(), Duration{1});
      for (const Component& component : system.components) {
        curves.limit_terms(component, most);
        for (const auto executor : component.executors) curves.propagate(executor, response);
      }
      for (std::size_t level = 0; level < joined.size(); ++level) {
        for (std::int64_t window = 1; window < 300; window += 7) {
          ASSERT_LE(most_in_window(happened[level], window),
                    curves.activations(joined[level]).count(Duration{window}));
        }
      }
    }
  }
}

/// Whatever is joined, activations come no more often than their sources, and a curve is derived
/// from those before it in a few steps: twice as many joins take twice the work.
TEST_P(DeepJoins, StayAsRareAndAsSimpleAsTheirSources) {
  std::vector<std::size_t> work;
  for (const std::size_t count : {std::size_t{500}, std::size_t{1000}}) {
    const System system(shapes::nested_joins(GetParam(), count));
    Curves curves(system);
    const std::vector<Duration> response(system.tasks.size(), Duration{1000});
    curves.propagate(model::ExecutorIndex{0}, response);
    work.push_back(curves.take_work());
    const auto& last = curves.activations(model::CallbackIndex{system.tasks.size() - 1});
    EXPECT_LE(last.weight(), 128U);
    // In 10 s, every 100 ms; and once more for each join whose input may come just before, up to
    // where that is not followed.
    EXPECT_LE(last.count(std::chrono::seconds{10}), 100 + 20);
  }
  EXPECT_LE(work[1], 2 * work[0] + work[0] / 10);
}

/// How many curves of the model and lines an evaluation looks at, counted by one.
std::size_t looked_at(const curves::DerivedCurve& curve, std::size_t most) {
  std::size_t count = curve.line() == curves::ActivationLine{} ? 0 : 1;
  for (const auto& term : curve.terms()) {
    if (term.source->join == nullptr) ++count;
    if (term.source->join == nullptr || count > most) continue;
    for (const curves::DerivedCurve& operand : term.source->join->operands()) {
      count += looked_at(operand, most - std::min(most, count));
    }
  }
  return count;
}

/// Executors that hand messages to and fro follow each other's curves in rounds. In none of them
/// does an evaluation look at more than the curve says, though each round nests the joins more
/// deeply.
TEST_P(DeepJoins, StaySimpleInEveryRoundOfSeveralExecutors) {
  ModelBuilder builder;
  std::vector<model::ExecutorIndex> executors;
  for (int e = 0; e < 3; ++e) executors.push_back(builder.executor());
  std::vector<model::CallbackIndex> outputs;
  for (int source = 0; source < 2; ++source) {
    outputs.push_back(builder.timer(executors[0], Duration{1},
                                    model::PeriodicActivation{Duration{1000}, Duration{7}}));
  }
  for (std::size_t n = 0; n < 60; ++n) {
    const auto joined = builder.subscription(executors[n % 3], Duration{1});
    const std::vector inputs(outputs.end() - 2, outputs.end());
    for (const auto input : inputs) builder.edge(input, joined);
    builder.join(joined, GetParam(), inputs);
    outputs.push_back(joined);
  }
  const System system(builder.model());
  Curves curves(system);
  std::vector<Duration> response(system.tasks.size(), Duration{1});
  for (int round = 0; round < 70; ++round) {
    for (const auto executor : executors) {
      curves.propagate(executor, response);
      for (const auto output : outputs) {
        const auto& curve = curves.activations(output);
        ASSERT_LE(looked_at(curve, curve.weight()), curve.weight()) << round;
      }
    }
    for (std::size_t c = 0; c < response.size(); ++c) response[c] += Duration(c % 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeepJoins, testing::Values(JoinKind::and_, JoinKind::newest),
                         [](const auto& test) {
                           return test.param == JoinKind::and_ ? "and" : "newest";
                         });

TEST(Joins, OneThatWaitsForAnInputThatNeverComesHasNoSecondActivation) {
  const auto periodic = curves::ActivationCurve::periodic(Duration{10}, Duration{0});
  const curves::ActivationSource source{.curve = &periodic};
  std::vector<curves::DerivedCurve> operands(2);
  operands[0].add(source);
  curves::DerivedCurve activations;
  activations.add(std::make_shared<const curves::JoinCurve>(curves::JoinCurve::Kind::newest,
                                                            std::move(operands)));
  EXPECT_EQ(activations.distance(1), Duration{0});
  EXPECT_EQ(activations.distance(2), curves::unbounded_time);
}

}  // namespace
}  // namespace takt::analysis
