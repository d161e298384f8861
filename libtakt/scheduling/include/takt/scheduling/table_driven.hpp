#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "takt/scheduling/policy.hpp"

namespace takt::scheduling {

/// A table of slots that repeats (performance-engineering 3.1): an instance may start only if it is
/// released (event) and a slot of its callback is open (time).
///
/// It has no clock: the executor tells the time before it asks, and asks again at the next
/// boundary, because a slot that opens may make an instance ready that was released before.
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
  /// Decides for the time of the last advance().
  [[nodiscard]] bool choose(LocalIndex& chosen) override;

  std::vector<Slot> slots_;
  Duration cycle_;
  std::vector<std::size_t> released_;
  /// The beginning of the present round of the table.
  Instant round_{};
  Duration offset_{};
  /// The number of slots that have begun in this round.
  std::size_t begun_ = 0;
};

}  // namespace takt::scheduling
