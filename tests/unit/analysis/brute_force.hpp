#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::model {

/// The longest response times of one run; 0 where nothing completed.
struct Observed {
  std::vector<std::int64_t> callbacks;
  std::vector<std::int64_t> chains;
};

/// How a run chooses what the model leaves open: release instants, execution times, when during an
/// instance it publishes, delays, and where in each period a reservation supplies its budget.
struct Choices {
  /// Activations as early, instances as long, delays as long as the model allows; otherwise random.
  bool adversarial = true;
  /// Budget at the start of the first period and at the end of all others.
  bool late_budgets = true;
  /// All sources begin at once.
  bool synchronous = true;
};

/// Executes a model by brute force, tick by tick (a tick is a nanosecond of the model), by the
/// rules of its executors alone: this shares no code with the analyses, and not even their curves.
/// Execution times are those of a curve ET: no n consecutive instances ever take more than ET(n).
[[nodiscard]] Observed execute(const Model& model, std::int64_t ticks, Choices choices,
                               std::mt19937& random);

}  // namespace takt::model
