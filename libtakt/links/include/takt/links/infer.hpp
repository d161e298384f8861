#pragma once

#include <set>
#include <span>
#include <vector>

#include "takt/links/evidence.hpp"
#include "takt/links/link.hpp"

namespace takt::links {

/// The nodes at the ends of links.
[[nodiscard]] std::set<execution::NodeIndex> nodes_of(const execution::Objects& objects,
                                                      std::span<const Link> links);

/// The links that the behaviour of nodes suggests, for those that are not in `known` and whose
/// program has not declared all of its links:
///
/// - joined: subscriptions that publish when each of them has a message that was not used before,
///   and only then. At most one run in NodeInputs::runs_per_exception contradicts that. Each of
///   them was seen to be waited for; or it always came first, only keeps its messages, and at least
///   one in three is used. A subscription that fits several joins of its node belongs to none: it
///   only has the same rate. Callbacks of message_filters are joined by whichever of them
///   publishes, as their stamps decide when a set is complete.
/// - sampled: a timer publishes, and a subscription of its node never does and is not joined.
///
/// If inputs were seen to be waited for n times, the confidence is 100 n / (n + 1), else 50;
/// several timers that could sample an input share it. That a node stores /tf is no evidence of a
/// link: each user of transforms does.
[[nodiscard]] std::vector<Link> inferred_links(const Evidence& evidence,
                                               const execution::Objects& objects,
                                               const std::set<execution::NodeIndex>& known);

/// The declared links, then the inferred ones of nodes without any.
[[nodiscard]] std::vector<Link> all_links(const Evidence& evidence,
                                          const execution::Objects& objects);

}  // namespace takt::links
