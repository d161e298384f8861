#include "takt/analysis/analyzer.hpp"

#include <gmock/gmock.h>

#include <variant>

#include "model_builder.hpp"
#include "takt/generation/random.hpp"
#include "takt/generation/random_model.hpp"

/// Analysis again after a change.
namespace takt::analysis {
namespace {

using generation::Shape;
using model::CallbackIndex;
using model::CallbackKind;
using model::ExecutorIndex;
using model::ExecutorKind;
using model::ModelBuilder;

void expect_equal(const Bounds& again, const Bounds& from_scratch) {
  EXPECT_EQ(again.analysis, from_scratch.analysis);
  EXPECT_EQ(again.model, from_scratch.model);
  EXPECT_EQ(again.horizon, from_scratch.horizon);
  EXPECT_EQ(again.converged, from_scratch.converged);
  ASSERT_EQ(again.callbacks.size(), from_scratch.callbacks.size());
  for (std::size_t c = 0; c < again.callbacks.size(); ++c) {
    EXPECT_EQ(again.callbacks[c], from_scratch.callbacks[c])
        << again.callbacks[c].id << ": " << again.callbacks[c].reason
        << "\nfrom scratch: " << from_scratch.callbacks[c].reason;
  }
  ASSERT_EQ(again.chains.size(), from_scratch.chains.size());
  for (std::size_t i = 0; i < again.chains.size(); ++i) {
    EXPECT_EQ(again.chains[i], from_scratch.chains[i]) << again.chains[i].id;
  }
}

/// Changes a model in random ways, for better and for worse.
class RandomChanges {
 public:
  RandomChanges(Analyzer& analyzer, std::uint64_t seed) : analyzer_(analyzer), random_(seed) {}

  void change() {
    switch (random_.between(0, 2)) {
      case 0:
        return change_budget();
      case 1:
        return change_execution_time();
      default:
        return change_activation();
    }
  }

 private:
  void change_budget() {
    const auto& executors = analyzer_.model().executors;
    const ExecutorIndex index{pick(executors.size())};
    const auto* reservation =
        std::get_if<model::ReservationSupply>(&executors[index.value()].supply);
    if (reservation == nullptr) return;
    analyzer_.set_budget(index, Duration{random_.between(1, reservation->deadline.count())});
  }

  void change_execution_time() {
    const CallbackIndex index{pick(analyzer_.model().callbacks.size())};
    auto curve = analyzer_.model()[index].execution_time;
    // Scaled rounding up, a sub-additive curve stays one.
    const auto numerator = random_.between(1, 12);
    for (Duration& cost : curve) cost = (cost * numerator + Duration{4}) / 5;
    analyzer_.set_execution_time(index, std::move(curve));
  }

  void change_activation() {
    const CallbackIndex index{pick(analyzer_.model().callbacks.size())};
    const auto& activation = analyzer_.model()[index].activation;
    if (!activation) return;
    const Duration period{random_.between(100, 2'000)};
    const Duration jitter{random_.between(0, 1'000)};
    if (std::holds_alternative<model::PeriodicActivation>(*activation)) {
      analyzer_.set_activation(index, model::PeriodicActivation{period, jitter});
    } else {
      analyzer_.set_activation(index, model::SporadicActivation{period, jitter});
    }
  }

  std::size_t pick(std::size_t size) {
    return static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(size) - 1));
  }

  Analyzer& analyzer_;
  generation::Random random_;
};

constexpr Shape several_executors{.fewest_executors = 2,
                                  .most_executors = 6,
                                  .fewest_callbacks = 5,
                                  .most_callbacks = 18,
                                  .most_chains = 4,
                                  .shortest_period = Duration{100},
                                  .longest_period = Duration{2'000},
                                  .least_utilisation = 20,
                                  .most_utilisation = 80,
                                  .shortest_reservation_period = Duration{20},
                                  .longest_reservation_period = Duration{100},
                                  .reservation = 70,
                                  .overhead = 20,
                                  .join = 30,
                                  .own_activation = 25,
                                  .event_source = 15};

struct Tally {
  int converged = 0;
  int diverged = 0;
  std::size_t analysed = 0;
  std::size_t executors = 0;
};

Tally change_and_compare(const Shape& shape, const Options& options) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Analyzer analyzer(generation::random_model(shape, seed), options);
    RandomChanges changes(analyzer, seed);
    for (int n = 0; n < 25 && !testing::Test::HasFailure(); ++n) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", change " << n);
      const Bounds& again = analyzer.bounds();
      expect_equal(again, analyze(analyzer.model(), options));
      ++(again.converged ? tally.converged : tally.diverged);
      if (n > 0) {
        tally.analysed += analyzer.analysed_executors();
        tally.executors += analyzer.model().executors.size();
      }
      changes.change();
      if (n % 4 == 0) changes.change();
    }
  }
  return tally;
}

TEST(Analyzer, BoundsAfterChangesAreThoseFromScratch) {
  for (const Method method :
       {Method::round_robin, Method::busy_window, Method::combined, Method::tight}) {
    const Tally tally =
        change_and_compare(several_executors, {.method = method, .horizon = Duration{200'000}});
    // Models lose their bounds and get them back, and a part of the work is spared.
    EXPECT_GT(tally.converged, 100);
    EXPECT_GT(tally.diverged, 100);
    EXPECT_LT(tally.analysed, tally.executors / 2);
  }
}

/// Here periods decide the order of callbacks too.
TEST(Analyzer, BoundsAfterChangesAreThoseFromScratchForOtherExecutors) {
  for (const ExecutorKind kind :
       {ExecutorKind::events, ExecutorKind::fixed_priority, ExecutorKind::edf,
        ExecutorKind::graph_aware, ExecutorKind::multi_threaded, ExecutorKind::chain_priority}) {
    Shape shape = several_executors;
    shape.kinds = kind;
    shape.own_activation = 0;
    (void)change_and_compare(shape, {.horizon = Duration{200'000}});
  }
}

/// Four executors in a row, a timer each, and a chain through all of them.
struct Row {
  Row() {
    for (int n = 0; n < 4; ++n) {
      executors.push_back(
          builder.executor(model::ReservationSupply{Duration{50}, Duration{100}, Duration{100}}));
      builder.timer(executors.back(), Duration{10}, model::every(Duration{2'000}));
      callbacks.push_back(
          n == 0 ? builder.timer(executors[0], Duration{20}, model::every(Duration{1'000}))
                 : builder.subscription(executors.back(), Duration{20}));
    }
    builder.chain(callbacks);
  }
  ModelBuilder builder;
  std::vector<ExecutorIndex> executors;
  std::vector<CallbackIndex> callbacks;
};

TEST(Analyzer, OnlyWhatAChangeReachesIsAnalysedAgain) {
  const Row row;
  Analyzer analyzer(Row().builder.model());
  (void)analyzer.bounds();
  EXPECT_EQ(analyzer.analysed_executors(), 4U);
  for (std::size_t n = 0; n < 4; ++n) {
    analyzer.set_budget(row.executors[n], Duration{40});
    (void)analyzer.bounds();
    EXPECT_EQ(analyzer.analysed_executors(), 4 - n) << "this one and those downstream of it";
  }
}

TEST(Analyzer, NothingIsAnalysedAgainWithoutAChange) {
  Analyzer analyzer(Row().builder.model());
  const Bounds* first = &analyzer.bounds();
  EXPECT_EQ(&analyzer.bounds(), first);
  EXPECT_EQ(analyzer.analysed_executors(), 4U) << "by the call before";
}

TEST(Analyzer, AChangeThatLeavesTheCurvesAloneEndsWhereItIs) {
  const Row row;
  Analyzer analyzer(Row().builder.model());
  (void)analyzer.bounds();
  // As it is already.
  analyzer.set_budget(row.executors[0], Duration{50});
  (void)analyzer.bounds();
  EXPECT_EQ(analyzer.analysed_executors(), 1U);
  // The last callback's own costs change no activations.
  analyzer.set_execution_time(row.callbacks[3], {Duration{25}});
  (void)analyzer.bounds();
  EXPECT_EQ(analyzer.analysed_executors(), 1U);
}

TEST(Analyzer, ActivationsOfASourceReachAllThatFollowsFromIt) {
  const Row row;
  Analyzer analyzer(Row().builder.model());
  (void)analyzer.bounds();
  for (const std::int64_t period : {900, 1'000}) {
    analyzer.set_activation(row.callbacks[0], model::every(Duration{period}));
    (void)analyzer.bounds();
    EXPECT_EQ(analyzer.analysed_executors(), 4U) << "the shifts are the same, the source is not";
  }
}

TEST(Analyzer, SeveralChangesOfOneActivationReachAllThatFollowsFromIt) {
  const Row row;
  Analyzer analyzer(Row().builder.model());
  (void)analyzer.bounds();
  for (const std::int64_t changes : {2, 3, 4}) {
    for (std::int64_t n = 0; n < changes; ++n) {
      analyzer.set_activation(row.callbacks[0], model::every(Duration{700 + 40 * changes + n}));
    }
    expect_equal(analyzer.bounds(), analyze(analyzer.model()));
    EXPECT_EQ(analyzer.analysed_executors(), 4U) << changes << " changes at once";
  }
}

/// Executors that feed each other have a least fixed point in common, and are analysed together
/// from its start.
TEST(Analyzer, CycleOfExecutorsIsAnalysedAsOne) {
  ModelBuilder builder;
  std::vector<ExecutorIndex> executors;
  std::vector<CallbackIndex> timers;
  for (int n = 0; n < 3; ++n) {
    executors.push_back(
        builder.executor(model::ReservationSupply{Duration{60}, Duration{100}, Duration{100}}));
    timers.push_back(builder.timer(executors.back(), Duration{150}, model::every(Duration{1'000})));
  }
  builder.edge(timers[0], builder.subscription(executors[1], Duration{50}));
  builder.edge(timers[1], builder.subscription(executors[0], Duration{50}));
  Analyzer analyzer(builder.model());
  (void)analyzer.bounds();
  for (const std::int64_t budget : {10, 60, 30, 100}) {
    analyzer.set_budget(executors[1], Duration{budget});
    expect_equal(analyzer.bounds(), analyze(analyzer.model()));
    EXPECT_EQ(analyzer.analysed_executors(), 2U);
    EXPECT_EQ(analyzer.bounds().converged, budget > 10);
  }
}

}  // namespace
}  // namespace takt::analysis
