#pragma once

#include <span>
#include <vector>

#include "takt/execution/objects.hpp"
#include "takt/flow/history.hpp"
#include "takt/links/evidence.hpp"
#include "takt/links/link.hpp"

namespace takt::flow {

/// The messages of publishers that no run sent, in the order in which they were sent.
[[nodiscard]] std::vector<PublicationId> sent_by_threads(
    const History& history, std::span<const execution::PublisherIndex> publishers);

/// Whether a run sent by one of these publishers.
[[nodiscard]] bool sends_by(const History& history, InstanceId run,
                            std::span<const execution::PublisherIndex> publishers);

/// Infers which callbacks hand their messages to a thread that publishes, once for each message:
/// links of kind `joined` with one output and no reader. `known` are the other links of the
/// recording. No event shows a hand-over, so it is believed only if all of this agrees:
///
/// - The callbacks are of the publisher's node, publish nothing and are in no other link. The
///   thread is one alone, serves no executor, takes no message and keeps no rate.
/// - From the beginning of the recording on, the n-th publication comes after the n-th message, and
///   nearly always before the next one.
/// - The thread follows the messages and not a clock of its own: where a message is early or late,
///   the publication is so, too. Of two threads that know nothing of each other, the time between
///   them would vary more than the distances of one of them, at least half of the times.
/// - Only one choice fits: one callback of the node, or all of its callbacks together.
[[nodiscard]] std::vector<links::Link> find_hand_overs(const History& history,
                                                       const execution::Objects& objects,
                                                       const links::Evidence& evidence,
                                                       std::span<const links::Link> known);

}  // namespace takt::flow
