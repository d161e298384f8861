#pragma once

#include <algorithm>

#include "takt/execution/instances.hpp"
#include "takt/time/time.hpp"

namespace takt::flow {

/// When a timer was due. No event tells, but rcl keeps a timer on a grid of its period, skips the
/// points it is late for, and never calls it early: each start that is early for the grid as known
/// so far proves the grid to be that much earlier. So only the end of a trace tells the grid, and
/// due times are kept relative to its phase until then.
class TimerGrid {
 public:
  /// A period that is out of range (a damaged trace) counts as none.
  explicit TimerGrid(Duration period)
      : period_(std::clamp(period, Duration(0), Duration(std::chrono::hours(240)))) {}

  /// The due time that an instance answers, relative to phase().
  Duration add(const execution::CallbackInstance& instance);

  [[nodiscard]] Instant phase() const { return phase_; }

 private:
  Duration period_;
  bool started_ = false;
  Instant phase_;
  Duration next_{};
};

}  // namespace takt::flow
