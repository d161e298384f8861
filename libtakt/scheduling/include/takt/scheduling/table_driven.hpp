#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "takt/scheduling/policy.hpp"

namespace takt::scheduling {

/// A table of slots that repeats (performance-engineering 3.1): an instance may start only within a
/// slot of its callback, at both conditions: it is released (event) and a slot is open (time).
///
/// It has no clock: the executor tells the time before it asks, and asks again at the next
/// boundary, since a slot that opens makes an instance ready that was released before.
class TableDrivenPolicy final : public Policy {
 public:
  /// Half-open [start, end), offsets within the cycle.
  struct Slot {
    Duration start{};
    Duration end{};
    LocalIndex callback;
  };

  /// `slots`: in the order of their starts, none overlapping, all within [0, cycle).
  TableDrivenPolicy(std::size_t callbacks, std::span<const Slot> slots, Duration cycle);

  [[nodiscard]] bool is_sharable() const override { return false; }
  using Policy::release;
  void release(LocalIndex callback, Instant activation, Instant origin) override;

  /// `now` counts from the beginning of a round.
  void advance(Instant now) override;

  /// The start of a slot after the time of the last advance().
  [[nodiscard]] std::optional<Instant> next_start() const override;

 private:
  /// By the time of the last advance().
  [[nodiscard]] bool choose(LocalIndex& chosen) override;

  std::vector<Slot> slots_;
  Duration cycle_;
  std::vector<std::size_t> released_;
  /// When the present round of the table began.
  Instant round_{};
  Duration offset_{};
  /// The last slot that has begun in this round, and one more.
  std::size_t begun_ = 0;
};

}  // namespace takt::scheduling
