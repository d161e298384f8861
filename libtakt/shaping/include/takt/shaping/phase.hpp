#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "takt/time/time.hpp"

namespace takt::shaping {

/// Estimates when the cycles of a foreign loop begin, from messages that come once in each: at the
/// earliest a known time after the beginning, sometimes later. The line below a window of messages
/// shows the phase, and its slope how much longer or shorter the loop's period is than ours.
/// Messages that are far off change nothing, unless only such messages come for half a
/// window: then the loop has another phase now, and they are all that is known of it.
class PhaseTracker {
 public:
  /// Messages that are looked at; fewer than half of them tell nothing yet.
  static constexpr std::size_t window = 64;
  /// Messages are far off by more than such a part of the period.
  static constexpr int far_part = 8;

  /// `period` > 0: the nominal one. `delay`: the least time from the beginning to the message.
  PhaseTracker(Duration period, Duration delay) : period_(period), delay_(delay) {}

  /// A message came. Times ascend. O(window · log window).
  void observe(Instant when);

  /// The beginning of the cycle that `now` is in; none: not known yet. O(window · log window).
  [[nodiscard]] std::optional<Instant> begin(Instant now) const;

  /// By what share the loop's period is longer than ours; none: not known yet.
  /// O(window · log window).
  [[nodiscard]] std::optional<double> drift() const;

  /// How often the loop was found to have another phase.
  [[nodiscard]] std::int64_t relocks() const { return relocks_; }

 private:
  struct Message {
    /// Cycles since the first message.
    std::int64_t cycle = 0;
    /// How much later than a beginning on our grid.
    Duration lateness{};
  };

  /// How late a cycle's message is at the earliest, over the cycles.
  struct Line {
    /// A cycle, and the lateness there.
    Message at;
    /// How much later each cycle is than the one before, in ns.
    double slope = 0;

    [[nodiscard]] Duration lateness(std::int64_t cycle) const;
  };

  [[nodiscard]] std::optional<Line> earliest() const;

  Duration period_;
  Duration delay_;
  std::optional<Instant> first_;
  std::deque<Message> messages_;
  /// The latest ones, as long as all of them are far off.
  std::deque<Message> far_;
  std::int64_t relocks_ = 0;
};

}  // namespace takt::shaping
