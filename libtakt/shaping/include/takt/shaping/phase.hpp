#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "takt/time/time.hpp"

namespace takt::shaping {

/// When the cycles of a loop begin that is not ours, by messages that come once in each: at the
/// earliest a known time after its beginning, at times later. The lower envelope of a window of
/// messages tells the phase, and its slope how much longer or shorter the loop's period is than
/// ours.
class PhaseTracker {
 public:
  /// Messages that are looked at; fewer than half of them tell nothing yet.
  static constexpr std::size_t window = 64;

  /// `period` > 0 as it should be; `delay` from the beginning to the message at least.
  PhaseTracker(Duration period, Duration delay) : period_(period), delay_(delay) {}

  /// A message came. Times ascend. O(1).
  void observe(Instant when);

  /// The beginning of the cycle that `now` is in; none: not known yet. O(window).
  [[nodiscard]] std::optional<Instant> begin(Instant now) const;

 private:
  struct Message {
    /// Cycles since the first message.
    std::int64_t cycle = 0;
    /// How much later than a beginning on our grid.
    Duration lateness{};
  };

  Duration period_;
  Duration delay_;
  std::optional<Instant> first_;
  std::deque<Message> messages_;
};

}  // namespace takt::shaping
