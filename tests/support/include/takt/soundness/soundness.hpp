#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "takt/analysis/analyze.hpp"
#include "takt/generation/random_model.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// simulated <= bound, the central property: no response time, latency, reaction time or data age
/// of a simulation is above its bound, whatever the releases, execution times and supplies.
namespace takt::soundness {

/// What simulations of one model show of its bounds.
struct Comparison {
  std::size_t bounds = 0;
  /// Sum of the greatest observed value over the bound.
  double tightness = 0;
  /// How often the model was simulated, and how often that ended early because too much waited.
  std::size_t simulations = 0;
  std::size_t overloaded = 0;
  /// It was not simulated at all: one of its executors cannot run, and nothing is bounded.
  bool cannot_run = false;
  /// What exceeded its bound, or why the model could not be simulated; empty if all is well.
  std::string violation;
};

/// How long each simulation is.
inline constexpr Duration simulated_time{6'000};

/// Every kind of executor that schedules: all but those that stand for something outside ROS, which
/// random models of any kind have beside them.
[[nodiscard]] generation::ExecutorKinds all_kinds();

/// Whether all executors can run: a table-driven one may have no slot for any of its callbacks, and
/// so no table.
[[nodiscard]] bool can_run(const model::Model& model);

/// Simulates the model as adversely as we know how and at random, and compares what it shows with
/// the bounds of that analysis.
[[nodiscard]] Comparison compare(const model::Model& model, analysis::Method method);
/// The same with the bounds of another model with the same callbacks, chains and links.
[[nodiscard]] Comparison compare(const model::Model& simulated, const model::Model& bounded,
                                 analysis::Method method);

/// A model with a violation.
struct Found {
  std::uint64_t seed = 0;
  /// Shrunk.
  model::Model model;
  std::string violation;
};

/// The sums of all models compared so far.
struct Tally {
  std::size_t models = 0;
  std::size_t bounds = 0;
  double tightness = 0;
  std::size_t simulations = 0;
  std::size_t overloaded = 0;
  std::size_t cannot_run = 0;
};

/// Compares random models of that shape, with the seeds from `first` on, and adds to `tally`. Ends
/// with the first violation.
[[nodiscard]] std::optional<Found> hunt(const generation::Shape& shape, analysis::Method method,
                                        std::uint64_t first, std::size_t models, Tally& tally);

}  // namespace takt::soundness
