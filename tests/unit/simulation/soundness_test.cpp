#include "takt/soundness/soundness.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "../analysis/model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/hops/hops.hpp"
#include "takt/model/json.hpp"
#include "takt/model/names.hpp"
#include "takt/simulation/simulate.hpp"
#include "takt/soundness/thread_models.hpp"

namespace takt::soundness {
namespace {

using analysis::Method;
using enum model::ExecutorKind;

/// How many random models; the environment may ask for more. tests/hunt goes on for longer, with
/// progress.
std::size_t models() {
  const char* hunt = std::getenv("TAKT_SOUNDNESS_MODELS");
  return hunt == nullptr ? 300 : static_cast<std::size_t>(std::atoi(hunt));
}

void check(const generation::Shape& shape, Method method, std::uint64_t first_seed) {
  Tally tally;
  const auto found = hunt(shape, method, first_seed, models(), tally);
  ASSERT_FALSE(found.has_value()) << "seed " << found->seed << ": " << found->violation << "\n"
                                  << model::to_json(found->model);
  EXPECT_GE(tally.bounds, 500U) << "a property of nothing";
  const double tightness = tally.tightness / static_cast<double>(tally.bounds);
  testing::Test::RecordProperty("tightness", std::to_string(tightness));
  std::printf(
      "%zu bounds, mean observed / bound %.3f; %zu of %zu simulations overloaded, %zu models that "
      "cannot run\n",
      tally.bounds, tightness, tally.overloaded, tally.simulations, tally.cannot_run);
}

TEST(Soundness, OfTheRoundRobinAnalysis) {
  check(generation::any_model(single_threaded), Method::round_robin, 1'000'000);
}
TEST(Soundness, OfTheBusyWindowAnalysis) {
  check(generation::any_model(single_threaded), Method::busy_window, 2'000'000);
}

/// All executors of the models are of that kind.
class SoundnessOf : public testing::TestWithParam<model::ExecutorKind> {};

TEST_P(SoundnessOf, TheAnalysis) {
  check(generation::any_model(GetParam()), Method::combined, 4'000'000);
}

TEST_P(SoundnessOf, TheTightAnalysis) {
  check(generation::any_model(GetParam()), Method::tight, 7'000'000);
}

INSTANTIATE_TEST_SUITE_P(Executors, SoundnessOf, testing::ValuesIn(all_kinds().list()),
                         [](const auto& test) {
                           return std::string(model::to_string(test.param));
                         });

/// How many bounds of random chains on several threads simulations exceed, if the analysis takes
/// the executor for one with so many threads more.
struct Threads {
  std::size_t models_with_all_bounds = 0;
  std::size_t violations = 0;
};

Threads compare_threads(std::int64_t more_threads, std::uint64_t models, bool reservations) {
  Threads counted;
  for (std::uint64_t seed = 1; seed <= models; ++seed) {
    const model::Model model = random_threads(seed, reservations).model;
    model::Model analysed = model;
    analysed.executors[0].threads += more_threads;
    const analysis::Bounds bounds = analysis::analyze(analysed);
    const auto longest = longest_seen(model, 6);
    if (!longest) {
      ADD_FAILURE() << "seed " << seed << ": " << longest.error().message;
      return counted;
    }
    bool all = true;
    const auto count = [&](const auto& bounded, const std::vector<Duration>& seen) {
      for (std::size_t i = 0; i < seen.size(); ++i) {
        all = all && bounded[i].bound;
        if (bounded[i].bound && seen[i] > *bounded[i].bound) ++counted.violations;
      }
    };
    count(bounds.callbacks, longest->callbacks);
    count(bounds.chains, longest->chains);
    if (all) ++counted.models_with_all_bounds;
  }
  return counted;
}

/// tests/hunt/thread_bounds.cpp has the figures of 2000 of them.
TEST(Soundness, OfChainsOnSeveralThreads) {
  const Threads plain = compare_threads(0, 60, false);
  EXPECT_EQ(plain.violations, 0U);
  EXPECT_GE(plain.models_with_all_bounds, 20U);
  const Threads reserved = compare_threads(0, 60, true);
  EXPECT_EQ(reserved.violations, 0U);
  EXPECT_GE(reserved.models_with_all_bounds, 5U);
}

TEST(Soundness, OfTooManyThreadsIsRefuted) {
  EXPECT_GT(compare_threads(6, 60, false).violations, 0U);
}

/// Two groups on two threads that take last stages first: an instance of `last` waits or runs, or
/// else one of `first`, which another group's `last` follows. In steps of a tenth of the period.
struct LastStageFirst {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t left = 0;
  bool runs_first = false;

  /// Returns whether an instance of its first stage ends with the step.
  bool step() {
    if (left == 0 && last > 0) {
      --last;
      left = 6;
      runs_first = false;
    } else if (left == 0 && first > 0) {
      --first;
      left = 1;
      runs_first = true;
    }
    return left > 0 && --left == 0 && runs_first;
  }
};

/// Rybko and Stolyar (1992): at 0.7 of each group and thread ever more may wait, so an analysis
/// that presumes no order has no bound.
TEST(Soundness, OfTwoGroupsThatFallBehindInSomeOrder) {
  LastStageFirst a{.first = 20};
  LastStageFirst b;
  std::vector<std::int64_t> waiting;
  for (std::int64_t step = 0; step < 40'000; ++step) {
    if (step % 10 == 0) ++a.first;
    if (step % 10 == 5) ++b.first;
    const bool a_sends = a.step();
    const bool b_sends = b.step();
    if (a_sends) ++b.last;
    if (b_sends) ++a.last;
    if ((step + 1) % 10'000 == 0) waiting.push_back(a.first + a.last + b.first + b.last);
  }
  for (std::size_t quarter = 1; quarter < waiting.size(); ++quarter) {
    EXPECT_GT(waiting[quarter], waiting[quarter - 1] + 100);
  }

  model::ModelBuilder builder;
  const auto executor = builder.executor(model::DedicatedSupply{}, multi_threaded);
  builder.model().executors[0].threads = 2;
  const auto of = [&](model::CallbackIndex callback, const char* node) {
    builder.model().callbacks[callback.value()].node = node;
    return callback;
  };
  // 21 at once, then one each period.
  const model::PeriodicActivation late{.period = Duration{100}, .jitter = Duration{2'000}};
  const auto a1 = of(builder.timer(executor, Duration{10}, late), "a");
  const auto a2 = of(builder.subscription(executor, Duration{60}), "b");
  const auto b1 = of(builder.timer(executor, Duration{10}, model::every(Duration{100})), "b");
  const auto b2 = of(builder.subscription(executor, Duration{60}), "a");
  builder.chain({a1, a2});
  builder.chain({b1, b2});
  for (const auto& callback : analysis::analyze(builder.model()).callbacks) {
    EXPECT_FALSE(callback.bound.has_value()) << callback.id;
  }
}

/// The control: a hunt that does not find this finds nothing. The formula printed in DAC 2022 is
/// not safe (edf-executor 5.5).
TEST(Soundness, OfAnUnsafeAnalysisIsRefuted) {
  Tally tally;
  const auto found = hunt(generation::any_model(edf), Method::edf_paper, 6'000'000, 2'000, tally);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->violation.empty());
}

/// Whether a simulation of some random model exceeds a bound of what `changed` makes of the model.
template <typename Change>
bool is_refuted(const generation::Shape& shape, Change changed) {
  for (std::uint64_t seed = 1; seed < 2'000; ++seed) {
    const model::Model model = generation::random_model(shape, seed);
    model::Model other = model;
    changed(other);
    if (!compare(model, other, Method::combined).violation.empty()) return true;
  }
  return false;
}

/// The same for each order of what is ready together: whoever takes it for a stricter one is
/// refuted.
TEST(Soundness, OfAStricterOrderIsRefuted) {
  using enum model::CallbackOrder;
  const auto with_order = [](model::Model model, model::CallbackOrder order) {
    for (model::Executor& executor : model.executors) executor.order = order;
    for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
      model.callbacks[i].node = i % 2 == 0 ? "/even" : "/odd";
    }
    return model;
  };
  for (const auto& [order, claimed] :
       {std::pair{any_in_category, registered}, std::pair{by_node, registered},
        std::pair{by_node, any_in_category}, std::pair{unknown, any_in_category},
        std::pair{unknown, by_node}}) {
    SCOPED_TRACE(fmt::format("{} for {}", to_string(claimed), to_string(order)));
    generation::Shape shape;
    shape.fewest_callbacks = 4;
    shape.any_source = 20;
    bool refuted = false;
    for (std::uint64_t seed = 1; !refuted && seed < 2'000; ++seed) {
      const model::Model model = generation::random_model(shape, seed);
      refuted = !compare(with_order(model, order), with_order(model, claimed), Method::combined)
                     .violation.empty();
    }
    EXPECT_TRUE(refuted);
  }
}

/// Suspension: whoever leaves it out is refuted, on processors and under reservations.
TEST(Soundness, OfLessSuspensionIsRefuted) {
  generation::Shape shape;
  shape.suspension = 60;
  for (const int reservations : {0, 100}) {
    shape.reservation = reservations;
    const auto without = [](model::Model& model) {
      for (model::Callback& callback : model.callbacks) callback.suspension.reset();
    };
    EXPECT_TRUE(is_refuted(shape, without)) << reservations;
  }
}

/// So is whoever takes what one instance does for what several in a row do.
TEST(Soundness, OfSuspensionsInARowIsRefuted) {
  generation::Shape shape;
  shape.suspension = 60;
  const auto in_one_of_many = [](model::Model& model) {
    for (model::Callback& callback : model.callbacks) {
      if (callback.suspension) callback.suspension->curve.resize(32, callback.suspension->curve[0]);
    }
  };
  EXPECT_TRUE(is_refuted(shape, in_one_of_many));
}

/// Releases: whoever leaves them out is refuted.
TEST(Soundness, OfNoReleasesIsRefuted) {
  for (const model::ExecutorKind kind : {events, fixed_priority, edf}) {
    generation::Shape shape = generation::any_model(kind);
    shape.release_overhead = 100;
    const auto without = [](model::Model& model) {
      for (model::Executor& executor : model.executors) executor.release_overhead = Duration{0};
    };
    EXPECT_TRUE(is_refuted(shape, without)) << to_string(kind);
  }
}

/// Executors that have more to do than they can, most of them: callbacks whose messages displace
/// others have bounds there.
generation::Shape overloaded_with_queues() {
  generation::Shape shape = generation::any_model(single_threaded);
  shape.queue_depth = 100;
  shape.least_utilisation = 60;
  shape.most_utilisation = 200;
  return shape;
}

TEST(Soundness, OfQueuesThatDisplace) {
  check(overloaded_with_queues(), Method::combined, 8'000'000);
  check(overloaded_with_queues(), Method::tight, 8'100'000);
}

/// Whoever takes a queue for one place shorter than it is is refuted.
TEST(Soundness, OfShorterQueuesIsRefuted) {
  EXPECT_TRUE(is_refuted(overloaded_with_queues(), [](model::Model& model) {
    for (model::Callback& callback : model.callbacks) {
      if (callback.queue_depth > 1) --*callback.queue_depth;
    }
  }));
}

generation::Shape trees_by_deadline() {
  generation::Shape shape = generation::any_model(graph_aware);
  shape.priority = 0;
  shape.deadline = 60;
  return shape;
}

TEST(Soundness, OfTreesByDeadline) {
  check(trees_by_deadline(), Method::combined, 8'200'000);
  check(trees_by_deadline(), Method::tight, 8'300'000);
}

/// Whoever takes the least urgent tree for the most urgent one is refuted.
TEST(Soundness, OfTreesByOtherDeadlinesIsRefuted) {
  EXPECT_TRUE(is_refuted(trees_by_deadline(), [](model::Model& model) {
    for (model::Callback& callback : model.callbacks) {
      if (callback.deadline) callback.deadline = Duration{1'000} - *callback.deadline;
    }
  }));
}

/// Two to five executors at fixed priorities on two processors, beside reservations.
generation::Shape at_fixed_priorities(int reservations) {
  generation::Shape shape = generation::any_model(all_kinds());
  shape.fewest_executors = 2;
  shape.most_executors = 5;
  shape.reservation = reservations;
  shape.cpu = 60;
  shape.slots = 0;
  shape.fixed_priority = 100;
  return shape;
}

TEST(Soundness, OfThreadsAtFixedPriorities) {
  check(at_fixed_priorities(0), Method::combined, 8'400'000);
  check(at_fixed_priorities(30), Method::combined, 8'500'000);
  check(at_fixed_priorities(10), Method::tight, 8'600'000);
}

/// Whoever takes threads for alone on their processor is refuted, and so are those who say that
/// equal priorities do not delay each other, that nothing is withheld, or that nothing is reserved.
TEST(Soundness, OfLessThatGoesBeforeAThreadIsRefuted) {
  const auto fixed = [](model::Executor& executor) {
    return std::get_if<model::FixedPrioritySupply>(&executor.supply);
  };
  EXPECT_TRUE(is_refuted(at_fixed_priorities(0), [](model::Model& model) {
    for (model::Executor& executor : model.executors) executor.cpu.reset();
  })) << "alone";
  EXPECT_TRUE(is_refuted(at_fixed_priorities(0), [&](model::Model& model) {
    std::int64_t next = 0;
    for (model::Executor& executor : model.executors) {
      if (fixed(executor)) fixed(executor)->priority = 10 * fixed(executor)->priority - next++;
    }
  })) << "equal priorities";
  EXPECT_TRUE(is_refuted(at_fixed_priorities(0), [&](model::Model& model) {
    for (model::Executor& executor : model.executors) {
      if (fixed(executor)) fixed(executor)->withheld = Duration{0};
    }
  })) << "withheld";
  EXPECT_TRUE(is_refuted(at_fixed_priorities(40), [](model::Model& model) {
    for (model::Executor& executor : model.executors) {
      if (std::holds_alternative<model::ReservationSupply>(executor.supply)) executor.cpu.reset();
    }
  })) << "reserved";
}

/// A model that is not simulated shows nothing: only overload is an excuse.
TEST(Soundness, IsNotShownByASimulationThatFails) {
  model::Model model = generation::random_model(generation::any_model(single_threaded), 1);
  EXPECT_EQ(compare(model, Method::combined).violation, "");
  model.executors[0].threads = 1;
  model.executors[0].supply = model::DedicatedSupply{};
  model.executors[0].cpu = 5'000;
  const Comparison comparison = compare(model, Method::combined);
  EXPECT_EQ(comparison.violation, "the simulation failed: cores: 5001 is not between 1 and 4096");
}

TEST(Soundness, OfAllAnalysesTogether) {
  check(generation::any_model(all_kinds()), Method::combined, 5'000'000);
}

/// In these models a response was longest at an offset at which the windows do not change, but what
/// is activated after it does.
TEST(Soundness, BetweenTheOffsetsOfAWindow) {
  for (const std::uint64_t seed : {20'016'217U, 20'027'058U}) {
    Tally tally;
    EXPECT_FALSE(hunt(generation::any_model(single_threaded), Method::tight, seed, 1, tally));
  }
}

generation::Shape with_links() {
  generation::Shape shape = generation::any_model(all_kinds());
  shape.link = 70;
  shape.remote_sender = 80;
  shape.most_utilisation = 50;
  return shape;
}

TEST(Soundness, OfLinks) { check(with_links(), Method::combined, 6'000'000); }

/// Whoever puts all delays behind the links finds bounds of messages that are exceeded.
TEST(Soundness, OfNoDelayBeforeLinksIsRefuted) {
  bool refuted = false;
  for (std::uint64_t seed = 1; !refuted && seed < 2'000; ++seed) {
    const model::Model model = generation::random_model(with_links(), seed);
    if (!hops::has_hops(model) || !can_run(model)) continue;
    simulation::Options options;
    options.duration = simulated_time;
    options.releases = simulation::ReleaseModel::random;
    options.seed = seed;
    const auto simulated = simulation::simulate(model, options);
    if (!simulated) continue;
    const auto behind = hops::with_hops(model, [](Duration) { return Duration{0}; });
    const analysis::Bounds bounds = analysis::analyze(behind.model, {.horizon = Duration{20'000}});
    for (std::size_t i = 0; i < simulated->links.size(); ++i) {
      const auto& observed = simulated->links[i].response_time;
      const auto& bound = bounds.callbacks[behind.callbacks + i].bound;
      refuted = refuted || (bound && observed.count() > 0 && observed.max() > *bound);
    }
  }
  EXPECT_TRUE(refuted);
}

}  // namespace
}  // namespace takt::soundness
