#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "activation/propagation.hpp"
#include "effort.hpp"
#include "executors/executor_analysis.hpp"
#include "system/system.hpp"

namespace takt::analysis {

/// The results of exploring an executor's schedules (docs/analysis-theory.md, "Exploration"), or
/// the reason why it was not explored.
struct Exploration {
  /// Why the executor was not explored; empty if it was.
  std::string reason;
  /// Whether the bounds hold only for the phases of timers that the model gives.
  bool depends_on_phases = false;
  /// By the callbacks' positions on the executor.
  std::vector<LocalBound> callbacks;
  struct Stretch {
    std::vector<CallbackIndex> callbacks;
    LocalBound bound;
  };
  /// Stretches of chains, also those along which messages take time.
  std::vector<Stretch> stretches;

  /// The bound of a stretch; null if it was not explored.
  [[nodiscard]] const LocalBound* bound(std::span<const CallbackIndex> stretch) const;
};

/// Explores the schedules of an executor, exactly if half of the effort allows it, else merging
/// states. `response`: the bounds found so far, of all callbacks.
[[nodiscard]] Exploration explore(const System& system, ExecutorIndex executor,
                                  const Curves& curves, const std::vector<Duration>& response,
                                  Duration horizon, std::int64_t allowed, Effort& effort);

}  // namespace takt::analysis
