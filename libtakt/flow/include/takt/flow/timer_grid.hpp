#pragma once

#include <algorithm>

#include "takt/execution/instances.hpp"
#include "takt/time/time.hpp"

namespace takt::flow {

/// When a timer was due. No event tells, but rcl keeps a timer on a grid of its period, skips the
/// points it is late for, and never calls it early. So a start that is early for the grid as known
/// so far proves the whole grid to be that much earlier. The grid is known only at the end of a
/// trace: all due times told until then are too late by the same time.
class TimerGrid {
 public:
  /// A period that is out of range (a damaged trace) counts as none.
  explicit TimerGrid(Duration period)
      : period_(std::clamp(period, Duration{0}, Duration(std::chrono::hours(240)))) {}

  /// The due time that an instance answers, up to correction().
  Instant add(const execution::CallbackInstance& instance);

  /// The time to add to every due time told so far; at most 0.
  [[nodiscard]] Duration correction() const { return phase_ - first_; }

 private:
  Duration period_;
  bool started_ = false;
  /// The first start, and a point of the grid, as known so far.
  Instant first_;
  Instant phase_;
  /// The next point, relative to phase_.
  Duration next_{};
};

}  // namespace takt::flow
