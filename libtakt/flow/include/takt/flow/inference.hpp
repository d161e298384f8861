#pragma once

#include <set>
#include <vector>

#include "takt/flow/causality.hpp"

namespace takt::flow {

/// The groups that the behaviour of nodes suggests, for those that are not in `known`:
///
/// - A timer that publishes uses the newest messages of its node's subscriptions that never publish
///   anything (periodic_async).
/// - Subscriptions that publish exactly when all of them have received something new complete sets
///   (partial_sync). One that never publishes counts if the others were seen to wait for it, or if
///   it always came before them and at most three times as often.
///
/// It is a guess, which documents say: a subscription that keeps nothing cannot be told from one
/// that stores. Topics that every node has do not count.
[[nodiscard]] std::vector<Group> infer_groups(const execution::Objects& objects,
                                              const History& history,
                                              const std::set<execution::NodeIndex>& known);

/// Calls those inferred groups ambiguous that several timers of a node would use: which of them
/// does cannot be told. Whether there were any.
bool doubt_groups(std::vector<Group>& groups, const History& history);

}  // namespace takt::flow
