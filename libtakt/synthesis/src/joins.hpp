#pragma once

#include <string>
#include <vector>

#include "observations.hpp"
#include "takt/execution/objects.hpp"
#include "takt/model/model.hpp"

namespace takt::synthesis {

/// Subscriptions of a node that work together: the one that completes a set of messages computes
/// and publishes.
struct ObservedJoin {
  model::JoinKind kind = model::JoinKind::newest;
  std::vector<CallbackIndex> members;
  /// From one completion to the next: the completing run and those before it that only added.
  execution::CostCurve execution_time;
};

/// Completions that must have been seen to take subscriptions for a join that nobody declared.
inline constexpr std::size_t least_completions = 8;

/// The joins that every remembered run of the nodes' subscriptions agrees with: those that a model
/// declares for subscriptions of the same node and topics, and those of kind newest that show by
/// runs that published nothing. Subscriptions that publish at every run may be joined with silent
/// ones or not; undeclared, they are taken as they look, which is safe.
[[nodiscard]] std::vector<ObservedJoin> find_joins(const Observations& observations,
                                                   const execution::Objects& objects,
                                                   const model::Model* declared);

}  // namespace takt::synthesis
