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

/// The joins that `declared` (may be null) has for subscriptions of the same node and topics, as
/// far as every remembered run agrees with them. A trace alone shows no joins: runs that look like
/// one may do so by chance, and would make bounds smaller than they are.
[[nodiscard]] std::vector<ObservedJoin> find_joins(const Observations& observations,
                                                   const execution::Objects& objects,
                                                   const model::Model* declared);

}  // namespace takt::synthesis
