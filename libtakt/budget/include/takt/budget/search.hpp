#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "takt/analysis/analyze.hpp"
#include "takt/base/error.hpp"
#include "takt/budget/mapping.hpp"
#include "takt/budget/plan.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// The search for reservations under which latency goals are guaranteed (ros-llama S-4.5).
namespace takt::budget {

struct Options {
  /// Its horizon is that of ros-llama S-4.5.3.
  analysis::Options analysis{.horizon = std::chrono::seconds{10}};
  /// The period of every reservation. None: those that the model has, and for other executors
  /// default_period.
  std::optional<Duration> period{};
  /// The step by which budgets shrink at first, in percent of the period.
  int step = 5;
  /// The goals are to be guaranteed even if all execution times are longer by this many percent.
  int margin = 0;
  Cores cores{};
  /// How many steps all analyses of the search may take together (see analysis::Options::effort).
  /// When they are used up, it ends with what it has. A single analysis takes at most as many.
  std::int64_t effort = std::numeric_limits<std::int64_t>::max();
  /// Afterwards lowers the budgets until none could be lowered by granularity() alone.
  bool lower = true;
  /// Looks for changes that would guarantee a goal that cannot be guaranteed.
  bool find_needs = true;
};

inline constexpr std::chrono::milliseconds default_period{5};

/// An effort that usually ends in less than two seconds for models of 20 callbacks, in steps for
/// each callback; systems of robots that were recorded take a twentieth of it.
inline constexpr std::int64_t effort_per_callback = 5'000'000;

/// Budgets are multiples of this: a thousandth of the period.
[[nodiscard]] inline Duration granularity(Duration period) {
  return std::max<Duration>(period / 1000, epsilon);
}

/// Plans a valid model: guarantees as many chains as it can by rank, the most important first. The
/// first one that it cannot guarantee is degraded with all that are less important. Reservations go
/// to the executors that the bounds of guaranteed chains depend on.
///
/// The search first asks for all chains, and then finds the number of chains by bisection. For each
/// number it gives the executors all that a core grants, without regard to the number of cores.
/// Then it lowers budgets step by step, always the one that costs the chains the least of their
/// slack, while all goals hold and no callback of these executors lacks a bound that it would have
/// on a whole core. It has a plan when the budgets fit on the cores.
///
/// In an analysis of with_reservations(), every guaranteed chain meets its goal, by construction.
/// The result is a local minimum: with any one budget smaller by its granularity() some goal would
/// be missed, or some callback would lose its bound.
///
/// Executors on slots keep them. Errors: no chain has a goal; an executor has to be on a core that
/// is not one of `options.cores`.
[[nodiscard]] Result<ReservationPlan> search(const model::Model& model,
                                             const Options& options = {});

}  // namespace takt::budget
