#pragma once

#include <set>
#include <vector>

#include "takt/flow/causality.hpp"

namespace takt::flow {

/// The groups that the behaviour of nodes suggests, for those that are not in `known`:
///
/// - A timer that publishes uses the newest messages of its node's subscriptions that never publish
///   anything (periodic_async).
/// - Subscriptions that publish exactly when each of them has received something new are a join
///   (partial_sync). A subscription that never publishes is a part of it if the others were seen to
///   wait for it, or if it always came before them and at most three times as often.
///
/// Such groups are a guess, and documents say so: a subscription that drops its messages looks like
/// one that stores them. Topics that every node has do not count.
[[nodiscard]] std::vector<Group> infer_groups(const execution::Objects& objects,
                                              const History& history,
                                              const std::set<execution::NodeIndex>& known);

/// Marks inferred groups as ambiguous that several timers of a node would use, as it is not known
/// which timer does. Returns whether there were any.
bool doubt_groups(std::vector<Group>& groups, const History& history);

}  // namespace takt::flow
