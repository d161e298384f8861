#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace takt::links {

/// A message that a filter of message_filters got. Its number is its position in the order in which
/// they came.
struct StampedMessage {
  std::size_t input = 0;
  /// Nanoseconds, of the message's header.
  std::int64_t stamp = 0;
};

/// Messages that went together.
struct StampedSet {
  /// The message that made the filter call the program.
  std::size_t completed_by = 0;
  /// One of each input.
  std::vector<std::size_t> members;

  friend bool operator==(const StampedSet&, const StampedSet&) = default;
};

/// The sets of the policy `ApproximateTime` of message_filters in C++, with its default options,
/// and a queue of so many messages for each input.
///
/// The set that a filter makes next is one of messages that come after those of the last one, on
/// each input. The newest of the first ones is the pivot; of the sets that have it, the filter
/// takes the one whose stamps are closest together. To stamps that are later it prefers earlier
/// ones as long as these are not wider by more than a tenth of the time by which those are later
/// (`age_penalty`). It makes the set as soon as no message that may still come could make a better
/// one. A message for which a queue has no room takes the oldest of that queue away, and the search
/// begins anew. O(messages · queue · inputs).
[[nodiscard]] std::vector<StampedSet> approximate_time(std::span<const StampedMessage> messages,
                                                       std::size_t inputs, std::size_t queue);

/// The sets that a filter was seen to complete with the messages of these numbers, which ascend
/// (one several times if it made several sets), if the others have a message with the stamp of each
/// of these. `ExactTime` needs it, and `ApproximateTime` does not wait for a better one. Nothing if
/// one of them lacks a message or has two, or there are too few of them to tell.
[[nodiscard]] std::optional<std::vector<StampedSet>> exact_sets(
    std::span<const StampedMessage> messages, std::size_t inputs,
    std::span<const std::size_t> completions);

/// The same for approximate_time(), if for some size of the queues the same messages complete its
/// sets. Nothing if sizes for which they do make different sets. O(messages · queue · inputs) for
/// each of them, and as much with some thousand messages for every other size.
[[nodiscard]] std::optional<std::vector<StampedSet>> approximate_sets(
    std::span<const StampedMessage> messages, std::size_t inputs,
    std::span<const std::size_t> completions);

}  // namespace takt::links
