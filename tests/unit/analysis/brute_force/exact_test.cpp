#include <gmock/gmock.h>

#include <array>

#include "../model_builder.hpp"
#include "search.hpp"
#include "soundness.hpp"
#include "takt/generation/random_model.hpp"
#include "takt/model/json.hpp"
#include "takt/model/names.hpp"

namespace takt::brute_force {
namespace {

using generation::Shape;
using model::ExecutorKind;

/// How many bounds of an exploration were compared with all schedules, and how many are reached.
struct Compared {
  int models = 0;
  int bounds = 0;
  int reached = 0;
};

/// Sources are activated for so long, and schedules that go on longer are searched for what those
/// do not reach.
constexpr std::int64_t searched_horizon = 60;
constexpr Effort thorough{.random = 300, .climbing = 300};

template <typename Bound>
void compare(const std::vector<Bound>& bounds, const std::vector<Witness>& all,
             const std::vector<Witness>& later, const model::Model& model, Compared& compared) {
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    ASSERT_TRUE(bounds[i].bound.has_value()) << bounds[i].reason;
    const std::int64_t seen = std::max(all[i].response, later[i].response);
    EXPECT_LE(seen, bounds[i].bound->count()) << bounds[i].id << " of " << model::to_json(model);
    // What never happens keeps the bound of another analysis.
    if (seen == 0) continue;
    ++compared.bounds;
    compared.reached += bounds[i].bound->count() == seen;
  }
}

/// Small models on a processor of their own, of which so many schedules can be tried that these are
/// all there are up to a horizon.
Compared compare(const Shape& shape, std::int64_t horizon, std::uint64_t models) {
  constexpr std::int64_t most_schedules = 10'000;
  constexpr std::size_t all_choices = 1000;
  Compared compared;
  for (std::uint64_t seed = 1; seed <= models; ++seed) {
    const model::Model model = generation::random_model(shape, seed);
    const auto bounds = analysis::analyze(model, options(analysis::Method::exact));
    if (!bounds.converged || !bounds.unexplored.empty()) continue;
    const Enumeration all = enumerate(model, horizon, all_choices, most_schedules, Sending::always);
    if (!all.complete) continue;
    const Worst later = search(model, searched_horizon, thorough, seed, Sending::always);
    ++compared.models;
    compare(bounds.callbacks, all.worst.callbacks, later.callbacks, model, compared);
    compare(bounds.chains, all.worst.chains, later.chains, model, compared);
  }
  return compared;
}

Shape small(ExecutorKind kind, int phase) {
  return {.fewest_callbacks = 2,
          .most_callbacks = 4,
          .shortest_period = Duration{3},
          .longest_period = Duration{6},
          .most_utilisation = 70,
          .kinds = kind,
          .reservation = 0,
          .privileged = 20,
          .jitter = 0,
          .phase = phase,
          .burst = 0,
          .cost_curve = 0};
}

constexpr std::array kinds{ExecutorKind::single_threaded, ExecutorKind::events,
                           ExecutorKind::fixed_priority, ExecutorKind::edf};

/// The exploration takes instances of equal deadlines in any order, executors of the kind have one.
bool has_ties(ExecutorKind kind) { return kind == ExecutorKind::edf; }

void expect_exact(int phase, std::int64_t horizon, std::uint64_t models, int least) {
  for (const ExecutorKind kind : kinds) {
    const Compared compared = compare(small(kind, phase), horizon, models);
    SCOPED_TRACE(model::to_string(kind));
    EXPECT_GT(compared.models, least) << "too few models are small enough";
    const int missed = compared.bounds - compared.reached;
    EXPECT_LE(missed, has_ties(kind) ? compared.bounds / 20 : 0) << "of " << compared.bounds;
  }
}

TEST(Exact, EqualsAllSchedulesIfPhasesAreKnown) { expect_exact(100, 13, 40, 15); }

TEST(Exact, EqualsAllSchedulesOfAnyPhases) { expect_exact(0, 8, 40, 5); }

TEST(Exact, EqualsAllSchedulesOfAnyOrder) {
  for (const int phase : {0, 100}) {
    Shape shape = small(ExecutorKind::single_threaded, phase);
    shape.other_order = 100;
    shape.any_source = 15;
    const Compared compared = compare(shape, phase == 0 ? 8 : 13, 60);
    EXPECT_GT(compared.models, 5) << "too few models are small enough";
    EXPECT_EQ(compared.reached, compared.bounds);
  }
}

/// Not all bounds are reached: of an overhead curve it uses a line above.
TEST(Exact, CountsNoLessThanTheOverheadsOfConsecutiveInstances) {
  for (const ExecutorKind kind : kinds) {
    SCOPED_TRACE(model::to_string(kind));
    Shape shape = small(kind, 50);
    shape.shortest_period = Duration{6};
    shape.longest_period = Duration{12};
    shape.most_utilisation = 30;
    shape.overhead = 100;
    shape.longest_overhead = Duration{4};
    shape.cost_curve = 100;
    EXPECT_GT(compare(shape, 9, 60).models, 5) << "too few models are small enough";
  }
}

TEST(Exact, CountsTheLongestOfConsecutiveOverheadsOnce) {
  constexpr int timers = 3;
  model::ModelBuilder builder;
  const auto executor = builder.executor();
  auto& overhead = builder.model().executors[0].overhead;
  for (int n = 0; n < 100; ++n) overhead.push_back(Duration{100 + (n * 10)});
  for (int n = 0; n < timers; ++n) {
    builder.timer(executor, Duration{10},
                  model::PeriodicActivation{.period = Duration{2000}, .phase = Duration{0}});
  }
  const auto bounds = analysis::analyze(builder.model(), options(analysis::Method::exact));
  ASSERT_TRUE(bounds.unexplored.empty());
  // The line through OT(1) = 100 with the slope ⌈OT(100) / 100⌉ = 11.
  EXPECT_EQ(bounds.callbacks[0].bound, Duration{110});
  EXPECT_EQ(bounds.callbacks[1].bound, Duration{110 + 21});
  EXPECT_EQ(bounds.callbacks[2].bound, Duration{110 + 21 + 21});
}

}  // namespace
}  // namespace takt::brute_force
