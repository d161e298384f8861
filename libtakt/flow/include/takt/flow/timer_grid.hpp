#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/time/time.hpp"

namespace takt::flow {

/// When a timer was due. No event tells, but rcl keeps a timer on a grid of its period, never calls
/// it early, and skips the points that pass while it is late: it is due next at the first point
/// after a call. So between two calls that are less than a period apart there is a point, and the
/// rest of the period has none. Of the grids that all such pairs leave, the one is taken that makes
/// the timer least late; another one if it turns out that the executor slept over the points again
/// and again, though a timer that is due ends its wait.
///
/// The grid may become known only at the end of a trace: all due times told until then are wrong by
/// the same time.
class TimerGrid {
 public:
  /// A period that is out of range (a damaged trace) counts as none.
  explicit TimerGrid(Duration period)
      : period_(std::clamp(period, Duration{0}, Duration(std::chrono::hours(240)))) {}

  /// The due time that an instance answers, up to correction().
  Instant add(const execution::CallbackInstance& instance);

  /// The time to add to every due time told so far.
  [[nodiscard]] Duration correction() const { return phase_ - anchor_; }

 private:
  /// A part of the period, from a point of the grid on, that has no point but perhaps its begin.
  struct Part {
    Duration begin{};
    Duration end{};
  };

  /// No point is within this time after `begin`, which may be one.
  void exclude(Instant begin, Duration length);
  void insert(Part part);
  /// Makes the begin of a part the point of the grid: `earlier` by less than a period, or later.
  void move(Duration earlier);
  /// The executor slept over the point at which an instance was due, which began so late.
  void slept_over(Duration late);
  /// What is known of the grid holds no longer: this is a point of the new one.
  void restart(Instant point);
  [[nodiscard]] Instant last_point_until(Instant time) const;

  Duration period_;
  /// Between these times, at most, the timer was called for the instance before.
  std::optional<Instant> called_after_;
  Instant called_before_;
  /// A point of the grid, as known so far, and as it was when the first due time was told.
  Instant phase_;
  Instant anchor_;
  /// Sorted, apart from each other; the first begins with the point. Empty: nothing is known yet.
  std::vector<Part> parts_;
  /// Instances in a row before which the executor slept over the point, and how late the least late
  /// of them was.
  std::size_t sleeps_ = 0;
  Duration least_late_{};
};

}  // namespace takt::flow
