#include "takt/oracle/crate_oracle.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>

#include "takt/generation/random_model.hpp"

namespace takt::oracle {
namespace {

using analysis::Bounds;
using analysis::Method;
using generation::Shape;

constexpr analysis::Options with(Method method) {
  return {.method = method, .horizon = Duration{200'000}};
}

/// Why our bound differs from the crate's.
enum class Difference {
  none,
  /// One callback without bound leaves the others theirs; the crate's caller gives up on all.
  bounds_beside_divergence,
  /// Interference with a privileged callback ends when it starts, counted in service received
  /// (ros-llama S-3.6 with Lemma 17). The crate's analysis of timers ends it that much wall-clock
  /// time before the completion as the cheapest instance costs.
  start_of_privileged_callback,
  /// Privileged callbacks wait for no polling point (Def. 5); the crate's round-robin analysis
  /// counts some for a chain that begins with one.
  no_polling_points_of_privileged_callbacks,
  /// Any other: not known, hence an error.
  unexplained,
};

std::string_view name(Difference difference) {
  switch (difference) {
    case Difference::none:
      return "equal";
    case Difference::bounds_beside_divergence:
      return "less: bounds beside divergence";
    case Difference::start_of_privileged_callback:
      return "less: start of privileged callbacks";
    case Difference::no_polling_points_of_privileged_callbacks:
      return "less: no polling points of privileged callbacks";
    case Difference::unexplained:
      break;
  }
  return "unexplained";
}

/// Compares our bounds of one model with the crate's.
class Comparison {
 public:
  Comparison(const model::Model& model, const Bounds& ours, const Answer& crate, Method method)
      : model_(model), ours_(ours), crate_(crate), method_(method) {}

  std::map<Difference, int> differences() {
    std::map<Difference, int> count;
    // A privileged callback with a lesser bound makes all that follows from it lesser.
    bool less = false;
    for (std::size_t i = 0; i < ours_.callbacks.size(); ++i) {
      const bool privileged = ours_.callbacks[i].by == "privileged";
      less = less || (privileged && ours_.callbacks[i].bound < crate_.callbacks[i]);
    }
    for (std::size_t i = 0; i < ours_.callbacks.size(); ++i) {
      ++count[explain(ours_.callbacks[i].bound, crate_.callbacks[i], less, false)];
    }
    for (std::size_t i = 0; i < ours_.chains.size(); ++i) {
      const bool begins_privileged = any_segment_begins_privileged(model_.chains[i]);
      ++count[explain(ours_.chains[i].bound, crate_.chains[i], less, begins_privileged)];
    }
    return count;
  }

 private:
  Difference explain(std::optional<Duration> ours, std::optional<Duration> crate,
                     bool privileged_less, bool begins_privileged) const {
    if (ours == crate) return Difference::none;
    if (!crate) {
      return ours_.converged ? Difference::unexplained : Difference::bounds_beside_divergence;
    }
    if (!ours || *ours > *crate) return Difference::unexplained;
    if (privileged_less) return Difference::start_of_privileged_callback;
    if (begins_privileged && method_ != Method::busy_window) {
      return Difference::no_polling_points_of_privileged_callbacks;
    }
    return Difference::unexplained;
  }

  [[nodiscard]] bool any_segment_begins_privileged(const model::Chain& chain) const {
    return std::ranges::any_of(chain.callbacks, [&](model::CallbackIndex callback) {
      return model_[callback].kind == model::CallbackKind::timer &&
             model_[model_[callback].executor].timers == TimerHandling::privileged;
    });
  }

  const model::Model& model_;
  const Bounds& ours_;
  const Answer& crate_;
  Method method_;
};

/// Our bounds are never above the crate's for the same theorem and assumptions, equal where the
/// theorems coincide, and each difference has a name.
void expect_explained(const Shape& shape, std::uint64_t first_seed, std::size_t models,
                      std::map<std::string_view, int>& total) {
  std::vector<model::Model> systems;
  for (std::size_t n = 0; n < models; ++n) {
    systems.push_back(generation::random_model(shape, first_seed + n));
  }
  for (const Method method : {Method::round_robin, Method::busy_window, Method::combined}) {
    std::vector<Question> questions;
    for (const auto& system : systems) questions.push_back({&system, with(method)});
    const auto answers = ask_crate(questions);
    if (!answers) GTEST_SKIP() << "needs cargo and a registry that it can reach";
    for (std::size_t n = 0; n < models; ++n) {
      const Bounds ours = analysis::analyze(systems[n], with(method));
      const auto found = Comparison(systems[n], ours, (*answers)[n], method).differences();
      for (const auto& [difference, count] : found) {
        ASSERT_NE(difference, Difference::unexplained)
            << "seed " << first_seed + n << ", " << analysis::to_string(method) << ": " << count
            << " bounds differ, and no known difference of the crate says why";
        total[name(difference)] += count;
      }
    }
  }
}

constexpr Shape single_executor{.most_callbacks = 12,
                                .shortest_period = Duration{100},
                                .longest_period = Duration{2'000},
                                .shortest_reservation_period = Duration{20},
                                .longest_reservation_period = Duration{100},
                                .privileged = 0};

TEST(CrateOracle, PolledCallbacksOfOneExecutorAreBoundedAlike) {
  std::map<std::string_view, int> total;
  expect_explained(single_executor, 10'000, 400, total);
  if (IsSkipped()) return;
  // Divergence aside there is nothing in which the analyses differ.
  EXPECT_THAT(total, ::testing::UnorderedElementsAre(
                         ::testing::Pair("equal", ::testing::Gt(8'000)),
                         ::testing::Pair("less: bounds beside divergence", ::testing::Gt(0))));
}

TEST(CrateOracle, PrivilegedTimers) {
  Shape shape = single_executor;
  shape.privileged = 100;
  std::map<std::string_view, int> total;
  expect_explained(shape, 20'000, 200, total);
  if (IsSkipped()) return;
  EXPECT_GT(total["equal"], 3'000);
  EXPECT_GT(total["less: start of privileged callbacks"], 0);
  EXPECT_GT(total["less: no polling points of privileged callbacks"], 0);
}

TEST(CrateOracle, SeveralExecutors) {
  Shape shape = single_executor;
  shape.fewest_executors = 2;
  shape.most_executors = 5;
  shape.fewest_callbacks = 5;
  shape.most_callbacks = 16;
  shape.most_utilisation = 70;
  shape.event_source = 20;
  std::map<std::string_view, int> total;
  expect_explained(shape, 30'000, 150, total);
  if (IsSkipped()) return;
  EXPECT_THAT(total, ::testing::UnorderedElementsAre(
                         ::testing::Pair("equal", ::testing::Gt(4'000)),
                         ::testing::Pair("less: bounds beside divergence", ::testing::Gt(0))));
}

}  // namespace
}  // namespace takt::oracle
