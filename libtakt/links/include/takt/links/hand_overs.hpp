#pragma once

#include <span>
#include <vector>

#include "takt/execution/objects.hpp"
#include "takt/links/evidence.hpp"
#include "takt/links/link.hpp"

namespace takt::links {

/// Infers which callbacks hand their messages to a thread that publishes, once for each message:
/// links of kind `joined` with one output and no reader. `known` are the other links of the
/// recording. No event shows a hand-over, so it is believed only if all of this agrees:
///
/// - The callbacks are of the publisher's node, publish nothing and are in no other link; now and
///   then they may publish themselves what the thread does else, as a done callback does if the
///   future was done already. The thread is one alone, serves no executor, takes no message and
///   keeps no rate.
/// - From the beginning of the recording on, the n-th publication comes after the n-th message, and
///   nearly always before the next one.
/// - The thread follows the messages and not a clock of its own: where a message is early or late,
///   the publication is so, too. Of two threads that know nothing of each other, the time between
///   them would vary more than the distances of one of them, at least half of the times.
/// - Only one choice fits: one callback of the node, or all of its callbacks together.
[[nodiscard]] std::vector<Link> hand_overs(const Evidence& evidence,
                                           const execution::Objects& objects,
                                           std::span<const Link> known);

}  // namespace takt::links
