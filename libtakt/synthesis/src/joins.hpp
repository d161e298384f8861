#pragma once

#include <vector>

#include "observations.hpp"

namespace takt::synthesis {

/// Subscriptions of a node that work together: each keeps its newest message, and the one that
/// completes the set computes and publishes, then all are forgotten.
struct NewestJoin {
  std::vector<CallbackIndex> members;
  /// From one completion to the next: the completing run and those before it that only added.
  execution::CostCurve execution_time;
};

/// The joins that every remembered run of the nodes' subscriptions agrees with, from the first
/// publication on. At least `least_completions` must have been seen, and some runs that published
/// nothing: subscriptions that publish at every run are no join.
inline constexpr std::size_t least_completions = 8;
[[nodiscard]] std::vector<NewestJoin> find_joins(const Observations& observations);

}  // namespace takt::synthesis
