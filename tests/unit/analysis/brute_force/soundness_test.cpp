#include "soundness.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "takt/generation/random_model.hpp"
#include "takt/model/validate.hpp"

namespace takt::brute_force {
namespace {

using generation::Shape;

/// How many random models; the environment may ask for a longer hunt.
int hunted(int models) {
  const char* hunt = std::getenv("TAKT_SOUNDNESS_MODELS");
  return hunt == nullptr ? models : std::atoi(hunt);
}

/// No response time in any schedule tried exceeds a bound of any analysis (ros-llama facts 19), for
/// so many random models of a shape.
void expect_sound(const Shape& shape, std::uint64_t first_seed, int usually, Effort effort) {
  const int models = hunted(usually);
  int bounded = 0;
  for (int n = 0; n < models; ++n) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(n);
    const model::Model model = generation::random_model(shape, seed);
    ASSERT_TRUE(model::validate(model, "random").has_value())
        << model::validate(model, "random").error().message;
    const auto violation = find_violation(model, effort, seed);
    ASSERT_FALSE(violation.has_value()) << "seed " << seed << ": " << *violation;
    bounded += analysis::analyze(model, options(analysis::Method::combined)).converged;
  }
  EXPECT_GT(bounded, models / 3) << "too few models have bounds at all to show anything";
}

constexpr Effort quick{.random = 20, .climbing = 15};

TEST(Soundness, F19_SingleExecutor) {
  expect_sound(
      {.most_callbacks = 6, .shortest_period = Duration{8}, .longest_period = Duration{40}}, 1'000,
      300, quick);
}

TEST(Soundness, SeveralExecutorsWithDelaysAndEventSources) {
  expect_sound({.fewest_executors = 2,
                .most_executors = 4,
                .fewest_callbacks = 4,
                .most_callbacks = 10,
                .most_chains = 3,
                .shortest_period = Duration{10},
                .longest_period = Duration{60},
                .most_utilisation = 70,
                .event_source = 20},
               2'000, 200, quick);
}

TEST(Soundness, DelaysWithinAnExecutor) {
  expect_sound({.most_executors = 2,
                .fewest_callbacks = 3,
                .most_callbacks = 7,
                .shortest_period = Duration{10},
                .longest_period = Duration{40},
                .most_utilisation = 70,
                .message_driven = 70,
                .local_delay = 50},
               6'000, 200, quick);
}

TEST(Soundness, BurstsAndLargeJitter) {
  expect_sound({.most_callbacks = 5,
                .shortest_period = Duration{8},
                .longest_period = Duration{30},
                .most_utilisation = 60,
                .jitter = 60,
                .burst = 60},
               3'000, 200, quick);
}

TEST(Soundness, JoinsAndTriggerSets) {
  expect_sound({.most_executors = 2,
                .fewest_callbacks = 4,
                .most_callbacks = 8,
                .most_chains = 3,
                .shortest_period = Duration{15},
                .longest_period = Duration{60},
                .most_utilisation = 60,
                .message_driven = 70,
                .second_sender = 80,
                .join = 60,
                .trigger_set = 70},
               4'000, 200, quick);
}

TEST(Soundness, AnyOrderOfReadyCallbacks) {
  expect_sound({.most_executors = 2,
                .fewest_callbacks = 3,
                .most_callbacks = 7,
                .shortest_period = Duration{10},
                .longest_period = Duration{50},
                .most_utilisation = 75,
                .other_order = 100,
                .any_source = 15},
               16'000, 300, quick);
}

TEST(Soundness, Overheads) {
  expect_sound({.most_executors = 2,
                .most_callbacks = 6,
                .shortest_period = Duration{25},
                .longest_period = Duration{80},
                .most_utilisation = 50,
                .overhead = 100},
               5'000, 150, quick);
}

Shape queue_executors(model::ExecutorKind kind) {
  return {.most_executors = 2,
          .fewest_callbacks = 3,
          .most_callbacks = 7,
          .shortest_period = Duration{10},
          .longest_period = Duration{50},
          .most_utilisation = 75,
          .kinds = kind};
}

TEST(Soundness, EventsExecutor) {
  expect_sound(queue_executors(model::ExecutorKind::events), 7'000, 200, quick);
}

TEST(Soundness, FixedPriorityExecutor) {
  expect_sound(queue_executors(model::ExecutorKind::fixed_priority), 8'000, 200, quick);
}

TEST(Soundness, EdfExecutor) {
  expect_sound(queue_executors(model::ExecutorKind::edf), 9'000, 200, quick);
}

TEST(Soundness, ChainPriorityExecutor) {
  Shape shape = queue_executors(model::ExecutorKind::chain_priority);
  shape.most_chains = 3;
  expect_sound(shape, 10'000, 200, quick);
}

TEST(Soundness, GraphAwareExecutor) {
  Shape shape = queue_executors(model::ExecutorKind::graph_aware);
  shape.message_driven = 70;
  expect_sound(shape, 11'000, 200, quick);
}

TEST(Soundness, MultiThreadedExecutor) {
  Shape shape = queue_executors(model::ExecutorKind::multi_threaded);
  shape.most_threads = 3;
  shape.most_utilisation = 50;
  expect_sound(shape, 12'000, 200, quick);
}

TEST(Soundness, TableDrivenExecutor) {
  Shape shape = queue_executors(model::ExecutorKind::table_driven);
  shape.most_callbacks = 4;
  shape.shortest_period = Duration{60};
  shape.longest_period = Duration{150};
  shape.most_utilisation = 15;
  shape.least_utilisation = 5;
  shape.message_driven = 20;
  expect_sound(shape, 13'000, 200, quick);
  shape.message_driven = 70;
  shape.trigger_set = shape.second_sender = shape.burst = shape.jitter = 0;
  expect_sound(shape, 13'500, 200, quick);
}

/// Activations of a callback's own, in addition to those by edges within and between executors, by
/// trigger sets and at joins.
TEST(Soundness, OwnActivationsBesideEdges) {
  for (const auto kind : {model::ExecutorKind::single_threaded, model::ExecutorKind::events,
                          model::ExecutorKind::fixed_priority, model::ExecutorKind::edf,
                          model::ExecutorKind::chain_priority, model::ExecutorKind::graph_aware,
                          model::ExecutorKind::multi_threaded}) {
    Shape shape = queue_executors(kind);
    shape.most_utilisation = 35;
    shape.message_driven = 70;
    shape.join = 30;
    shape.own_activation = 50;
    expect_sound(shape, 15'000, 60, quick);
  }
}

/// component-cps 3.7, non-preemptive and limited-preemptive: releases come before what runs.
TEST(Soundness, ReleaseOverheads) {
  for (const auto kind : {model::ExecutorKind::events, model::ExecutorKind::fixed_priority,
                          model::ExecutorKind::edf, model::ExecutorKind::graph_aware}) {
    Shape shape = queue_executors(kind);
    shape.longest_period = Duration{80};
    shape.most_utilisation = 50;
    shape.release_overhead = 100;
    expect_sound(shape, 14'000, 80, quick);
  }
}

/// Control: whoever counts fewer suspensions than there are is refuted, of one instance as of
/// several in a row.
TEST(Soundness, OfFewerSuspensionsIsRefuted) {
  const Shape shape{.most_callbacks = 3,
                    .shortest_period = Duration{30},
                    .longest_period = Duration{90},
                    .most_utilisation = 40,
                    .longest_reservation_period = Duration{8},
                    .reservation = 100,
                    .burst = 60,
                    .suspension = 100};
  const auto is_refuted = [&](auto claimed_times) {
    for (std::uint64_t seed = 17'000; seed < 17'400; ++seed) {
      const model::Model model = generation::random_model(shape, seed);
      model::Model claimed = model;
      for (model::Callback& callback : claimed.callbacks) {
        if (callback.suspension) {
          callback.suspension->set_times(claimed_times(*callback.suspension));
        }
      }
      const auto bounds = analysis::analyze(claimed, options(analysis::Method::combined));
      const Worst worst = search(model, horizon_for(claimed, bounds), quick, seed,
                                 Sending::at_most_once, Supplying::bounds);
      for (std::size_t i = 0; i < bounds.callbacks.size(); ++i) {
        const auto& bound = bounds.callbacks[i].bound;
        if (bound && worst.callbacks[i].response > bound->count()) return true;
      }
    }
    return false;
  };
  using Times = std::vector<std::int64_t>;
  const auto once = [](const model::Suspension&) { return Times{1}; };
  const auto in_one_of_many = [](const model::Suspension& suspension) {
    return Times(32, suspension.times);
  };
  const auto all = [](const model::Suspension& suspension) { return suspension.times_curve(); };
  EXPECT_TRUE(is_refuted(once));
  EXPECT_TRUE(is_refuted(in_one_of_many));
  EXPECT_FALSE(is_refuted(all));
}

/// Under reservations, each resumption may wait for supply as if nothing had been supplied before.
TEST(Soundness, Suspensions) {
  Shape shape{.most_callbacks = 4,
              .shortest_period = Duration{30},
              .longest_period = Duration{90},
              .most_utilisation = 40,
              .longest_reservation_period = Duration{8},
              .suspension = 60};
  for (const int reservation : {0, 100}) {
    shape.reservation = reservation;
    expect_sound(shape, 18'000, 150, quick);
  }
}

/// Small systems with nothing left to chance: every schedule that differs in the first choices of
/// each freedom.
TEST(Soundness, AllSchedulesOfSmallModels) {
  const Shape shape{.fewest_callbacks = 2,
                    .most_callbacks = 3,
                    .shortest_period = Duration{3},
                    .longest_period = Duration{6},
                    .most_utilisation = 70,
                    .shortest_reservation_period = Duration{3},
                    .longest_reservation_period = Duration{4},
                    .jitter = 0,
                    .burst = 10};
  constexpr std::int64_t most_schedules = 30'000;
  int complete = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const model::Model model = generation::random_model(shape, seed);
    const Enumeration all = enumerate(model, 14, 2, most_schedules);
    complete += all.complete;
    for (const auto method : {analysis::Method::round_robin, analysis::Method::busy_window}) {
      const auto bounds = analysis::analyze(model, options(method));
      for (std::size_t i = 0; i < bounds.callbacks.size(); ++i) {
        if (!bounds.callbacks[i].bound) continue;
        EXPECT_LE(all.worst.callbacks[i].response, bounds.callbacks[i].bound->count()) << seed;
      }
      for (std::size_t i = 0; i < bounds.chains.size(); ++i) {
        if (!bounds.chains[i].bound) continue;
        EXPECT_LE(all.worst.chains[i].response, bounds.chains[i].bound->count()) << seed;
      }
    }
  }
  EXPECT_GT(complete, 10) << "too few models are small enough";
}

}  // namespace
}  // namespace takt::brute_force
