#include "soundness.hpp"

#include <gmock/gmock.h>

#include "takt/model/validate.hpp"
#include "takt/testbed/random_model.hpp"

namespace takt::brute_force {
namespace {

using testbed::Shape;

/// No response time in any schedule tried exceeds a bound of any analysis (ros-llama facts 19), for
/// so many random models of a shape.
void expect_sound(const Shape& shape, std::uint64_t first_seed, int models, Effort effort) {
  int bounded = 0;
  for (int n = 0; n < models; ++n) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(n);
    const model::Model model = testbed::random_model(shape, seed);
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

TEST(Soundness, Overheads) {
  expect_sound({.most_executors = 2,
                .most_callbacks = 6,
                .shortest_period = Duration{25},
                .longest_period = Duration{80},
                .most_utilisation = 50,
                .overhead = 100},
               5'000, 150, quick);
}

}  // namespace
}  // namespace takt::brute_force
