#include "takt/analysis/explanation.hpp"

#include <gmock/gmock.h>

#include "model_builder.hpp"
#include "takt/generation/random_model.hpp"

/// The terms of an explanation add up to the bound that they explain, exactly.
namespace takt::analysis {
namespace {

using enum model::ExecutorKind;
using Kind = Explanation::Kind;
using model::ModelBuilder;
using testing::Field;

Explanation explained(const model::Model& model, std::string_view chain = "chain0",
                      const Options& options = {}) {
  auto explanation = explain(model, chain, options);
  EXPECT_TRUE(explanation) << explanation.error().message;
  return *explanation;
}

std::vector<std::string> lines(const Explanation::Segment& segment) {
  std::vector<std::string> result;
  for (const Explanation::Term& term : segment.terms) {
    result.push_back(fmt::format("{} {} {} {}", to_string(term.kind), term.callback, term.instances,
                                 term.time.count()));
  }
  return result;
}

struct Case {
  model::ExecutorKind kind;
  Method method;
};

bool releases_cost(model::ExecutorKind kind) {
  return kind != single_threaded && kind != multi_threaded && kind != table_driven;
}

class ExplanationOf : public testing::TestWithParam<Case> {};

TEST_P(ExplanationOf, AddsUpToTheBound) {
  generation::Shape shape{.most_executors = 2,
                          .fewest_callbacks = 3,
                          .most_callbacks = 8,
                          .most_chains = 3,
                          .shortest_period = Duration{20},
                          .longest_period = Duration{90},
                          .most_utilisation = 60,
                          .kinds = GetParam().kind,
                          .overhead = 20,
                          .event_source = 10};
  if (GetParam().kind == multi_threaded) shape.most_threads = 3;
  if (GetParam().kind == table_driven) {
    shape.most_callbacks = 4;
    shape.most_utilisation = 15;
    shape.least_utilisation = 5;
  }
  const Options options{.method = GetParam().method, .horizon = Duration{100'000}};
  int explanations = 0;
  int limited = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    model::Model model = generation::random_model(shape, seed);
    if (seed % 3 == 0 && releases_cost(GetParam().kind)) {
      for (model::Executor& executor : model.executors) {
        if (executor.kind == GetParam().kind) executor.release_overhead = Duration{1};
      }
    }
    for (const ChainBound& chain : analyze(model, options).chains) {
      if (!chain.bound) continue;
      const Explanation explanation = explained(model, chain.id, options);
      ++explanations;
      Duration total{0};
      ASSERT_EQ(explanation.segments.size(), chain.segments.size());
      for (const Explanation::Segment& segment : explanation.segments) {
        Duration sum{0};
        for (const Explanation::Term& term : segment.terms) {
          sum += term.time;
          limited += term.kind == Kind::limit;
          EXPECT_LE(term.time, explanation.dominating().time);
        }
        EXPECT_EQ(sum, segment.bound) << "seed " << seed << ", " << chain.id;
        total += segment.bound;
      }
      EXPECT_EQ(total, *chain.bound) << "seed " << seed << ", " << chain.id;
      EXPECT_EQ(explanation.bound, *chain.bound);
    }
  }
  EXPECT_GT(explanations, 40);
  // What the equations do not explain by themselves.
  EXPECT_EQ(limited, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Analyses, ExplanationOf,
    testing::Values(Case{single_threaded, Method::round_robin},
                    Case{single_threaded, Method::busy_window},
                    Case{single_threaded, Method::combined}, Case{events, Method::combined},
                    Case{fixed_priority, Method::combined}, Case{chain_priority, Method::combined},
                    Case{edf, Method::combined}, Case{graph_aware, Method::combined},
                    Case{multi_threaded, Method::combined}, Case{table_driven, Method::combined},
                    Case{single_threaded, Method::tight}, Case{events, Method::tight},
                    Case{fixed_priority, Method::tight}, Case{chain_priority, Method::tight},
                    Case{edf, Method::tight}, Case{graph_aware, Method::tight}));

/// ros-llama's equations by hand: one polling point, so that each other runs once before and, where
/// it precedes, once more.
TEST(Explanation, NamesWhoInterferesAndTheWinningAnalysis) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto first = builder.timer(e, Duration{10}, model::every(Duration{1000}));
  builder.timer(e, Duration{30}, model::every(Duration{1000}));
  const auto last = builder.subscription(e, Duration{5}, model::every(Duration{1000}));
  builder.chain({last});
  (void)first;
  const Explanation explanation = explained(builder.model());
  ASSERT_EQ(explanation.segments.size(), 1U);
  EXPECT_EQ(explanation.segments[0].by, "busy_window");
  EXPECT_THAT(
      lines(explanation.segments[0]),
      testing::ElementsAre("execution c2 1 5", "interference c0 1 10", "interference c1 1 30"));
  EXPECT_EQ(explanation.dominating().callback, "c1");
}

TEST(Explanation, TellsSupplyDelayAndSampling) {
  ModelBuilder builder;
  const auto a =
      builder.executor(model::ReservationSupply{Duration{20}, Duration{100}, Duration{100}});
  const auto b = builder.executor();
  const auto source = builder.timer(a, Duration{20}, model::every(Duration{1000}));
  const auto relay = builder.subscription(b, Duration{7});
  const auto reader = builder.timer(b, Duration{3}, model::every(Duration{500}));
  builder.edge(source, relay, Duration{40});
  builder.chain({source, relay, reader});
  const Explanation explanation = explained(builder.model());
  ASSERT_EQ(explanation.segments.size(), 3U);
  EXPECT_THAT(lines(explanation.segments[0]),
              testing::ElementsAre("execution c0 1 20", "supply  0 160"));
  EXPECT_THAT(lines(explanation.segments[1]),
              testing::ElementsAre("delay  0 40", "execution c1 1 7", "interference c2 1 3"));
  EXPECT_THAT(lines(explanation.segments[2]), testing::Contains("sampling c2 0 500"));
  EXPECT_EQ(explanation.dominating().kind, Kind::sampling);
  EXPECT_EQ(explanation.dominating_segment, 2U);
}

TEST(Explanation, OfWhatTakesNoTimeHasATerm) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto source = builder.timer(e, Duration{0}, model::every(Duration{100}));
  const auto sink = builder.subscription(e, Duration{0});
  builder.edge(source, sink);
  builder.chain({source, sink});
  const Explanation explanation = explained(builder.model());
  EXPECT_THAT(lines(explanation.segments[0]), testing::ElementsAre("execution c1 1 0"));
  EXPECT_THAT(explanation.to_json(), testing::HasSubstr("dominating"));
}

/// Instances of a callback without a bound gather for ever, but keep one of two threads busy.
TEST(Explanation, CountsNoMoreOfAnOverloadedCallbackThanThereIsTimeFor) {
  ModelBuilder builder;
  const auto e = builder.executor();
  builder.timer(e, Duration{12}, model::every(Duration{10}));
  const auto source = builder.timer(e, Duration{5}, model::every(Duration{1000}));
  const auto sink = builder.subscription(e, Duration{7});
  builder.edge(source, sink);
  builder.chain({source, sink});
  model::Model model = builder.model();
  model.executors[0].kind = multi_threaded;
  model.executors[0].threads = 2;
  for (model::Callback& callback : model.callbacks) callback.node = "/" + callback.id;
  const Explanation explanation = explained(model);
  for (const Explanation::Term& term : explanation.segments[0].terms) {
    EXPECT_LE(term.instances, 20) << term.callback;
    EXPECT_LE(term.time, Duration{100}) << term.callback;
    EXPECT_GE(term.time, Duration{-100}) << term.callback;
  }
}

TEST(Explanation, SaysWhatItCannotExplain) {
  ModelBuilder builder;
  const auto e = builder.executor();
  builder.chain({builder.timer(e, Duration{20}, model::every(Duration{10}))});
  EXPECT_EQ(explain(builder.model(), "pilot").error().message,
            "there is no chain \"pilot\"; the model has \"chain0\"");
  EXPECT_EQ(explain(builder.model(), "chain0").error().message,
            "chain \"chain0\" has no bound to explain: callback \"c0\" has no bound: executor "
            "\"e0\" needs 2.00 of a processor, its supply gives 1.00");
}

}  // namespace
}  // namespace takt::analysis
