#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "takt/events/event.hpp"

namespace takt::events {

/// Finds the events that several traces recorded: two LTTng sessions at once with the same events,
/// or two snapshots of one recording.
///
/// Such traces have the same events of a thread in the same order. Their times are equal, or differ
/// by what a tracepoint takes, because each session reads the clock for itself. So an event is a
/// repetition if another trace delivered an equal one of the same thread just before that this
/// trace has not repeated yet. If traces lack some events, each of all is still delivered once.
/// A thread may lose its processor within a tracepoint, after the first session and before the
/// next. It has no other event until then, so its newest one may be repeated much later. Of events
/// without fields that is not believed, as all of them are equal.
class Doubles {
 public:
  /// Longer than a tracepoint takes, and shorter than what a thread does between two equal events.
  static constexpr Duration window = std::chrono::microseconds(20);
  /// The same for the newest event of a thread: longer than a thread that was preempted waits, and
  /// shorter than what lies between two recordings.
  static constexpr Duration longest_preemption = std::chrono::milliseconds(100);
  /// At most so many events of a thread are remembered.
  static constexpr std::size_t most_of_a_thread = 256;

  /// Whether the newest event of the batch, of the trace with this number, repeats one. Events come
  /// in the order of their times. Traces whose numbers differ by a multiple of 64 count as one.
  [[nodiscard]] bool repeats(const Batch& batch, std::size_t trace);

 private:
  struct Delivered {
    Event event;
    Payload payload;
    std::uint64_t traces = 0;  // a bit for each that had it
  };
  [[nodiscard]] static bool are_equal(const Delivered& one, const Event& other,
                                      const Payload& payload);

  std::vector<std::deque<Delivered>> recent_;  // by thread
};

}  // namespace takt::events
