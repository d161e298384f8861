#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "takt/links/declarations.hpp"
#include "takt/links/evidence.hpp"
#include "takt/links/link.hpp"

namespace takt::links {

/// Where a node uses message_filters, the functions that it registers name it.
[[nodiscard]] bool is_filter(const execution::Callback& callback);
/// Whether nothing tells which policy of message_filters the messages go through.
[[nodiscard]] bool is_filter_of_cpp(const execution::Callback& callback);

/// Whether the message that completes a set of these inputs, matched by stamps, is known to be of
/// the set. It is in Python; in C++ the policy may be `ApproximateTime` (Link::last_is_of_set).
/// Which of them a callback is of that was made before the recording, nobody may know.
[[nodiscard]] bool last_is_of_set(const execution::Objects& objects,
                                  std::span<const execution::ObservedCallbackIndex> inputs);

/// Percent: how sure it is that one callback waits for another after it was seen to do so `times`
/// times. If it never was, both are as likely.
[[nodiscard]] std::int64_t confidence_after(std::uint64_t times);

/// The nodes at the ends of links.
[[nodiscard]] std::set<execution::NodeIndex> nodes_of(const execution::Objects& objects,
                                                      std::span<const Link> links);

/// The links from subscriptions whose messages a callback takes itself (execution::Read) to what it
/// publishes. Of what a thread took before its last take, nobody knows whether it used it: such
/// links are inferred.
[[nodiscard]] std::vector<Link> observed_links(const Evidence& evidence,
                                               const execution::Objects& objects);

/// What nothing shows, in nodes of which the program has not declared all links.
struct Unknown {
  /// The subscriptions of nodes that publish, of which nothing shows what becomes of their
  /// messages: they publish nothing, or seldom while something outside of callbacks does by the
  /// same publisher, and are in no link; or they go through message_filters in an unknown way; or
  /// what takes their messages itself publishes nothing. Those that store /tf are left out.
  std::vector<execution::ObservedCallbackIndex> subscriptions;
  /// Timers, and publishers outside of callbacks, that publish what no link explains while
  /// callbacks of their node pass on what they receive: these may keep it, too.
  std::vector<execution::ObservedCallbackIndex> timers;
  std::vector<execution::PublisherIndex> publishers;
};
[[nodiscard]] Unknown unknown_uses(const Evidence& evidence, const execution::Objects& objects,
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
/// - sampled: a timer publishes, and a subscription of its node never does and is not joined; or
///   another callback, or a thread, takes its messages itself and publishes nothing.
/// - latest: all callbacks of message_filters in a node publish, and more often than one of them
///   has messages, which `LatestTime` alone does.
///
/// If inputs were seen to be waited for n times, the confidence is 100 n / (n + 1), else 50;
/// several timers that could sample an input share it. That a node stores /tf is no evidence of a
/// link: each user of transforms does.
[[nodiscard]] std::vector<Link> inferred_links(const Evidence& evidence,
                                               const execution::Objects& objects,
                                               const std::set<execution::NodeIndex>& known);

/// The declared links, then the observed ones, then the inferred ones of nodes without declared
/// ones, then the hand-overs to threads; all as `declarations` (may be null) change them.
[[nodiscard]] Declared all_links(const Evidence& evidence, const execution::Objects& objects,
                                 const Declarations* declarations);

}  // namespace takt::links
