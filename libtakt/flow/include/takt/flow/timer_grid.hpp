#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/time/time.hpp"

namespace takt::flow {

/// Estimates when a timer was due. No event shows that, but rcl keeps a timer on a grid of its
/// period, never calls it early, and skips the points that pass while it is late: it is due next at
/// the first point after a call. So between two calls that are less than a period apart there is a
/// point, and the rest of the period has none. Several grids may fit all such pairs: the one is
/// taken that makes the timer least late. But a timer that is due ends its executor's wait; if the
/// executor slept over the points again and again, another grid is taken.
///
/// The grid may become known only at the end of a trace: all due times returned until then are
/// wrong by the same time. That ends when the timer was reset, or does not keep to the grid (its
/// clock is another one): what is learned then says nothing about the due times before.
class TimerGrid {
 public:
  /// A period that is out of range (a damaged trace) counts as none.
  explicit TimerGrid(Duration period)
      : period_(std::clamp(period, Duration{0}, Duration(std::chrono::hours(240)))) {}

  /// Returns when the timer was due for an instance, without correction().
  Instant add(const execution::CallbackInstance& instance);

  /// The due time that add() returned last, but at least a period after the one before: what is
  /// learned of a grid in between is no shorter distance. One of more than a period after the start
  /// shows that the period is not what it was, and is that of add().
  [[nodiscard]] Instant spaced() const { return spaced_.value(); }

  /// The time to add to every due time returned so far. None is after the start of its instance
  /// then.
  [[nodiscard]] Duration correction() const { return correction_; }

 private:
  /// A part of the period, counted from a point of the grid. It has no point, except perhaps at its
  /// begin.
  struct Part {
    Duration begin{};
    Duration end{};
  };

  /// When the timer was due for an instance, as far as is known.
  Instant find_due(const execution::CallbackInstance& instance);
  /// Notes that no point is within this time after `begin`, which itself may be one.
  void exclude(Instant begin, Duration length);
  void insert(Part part);
  /// Moves the point of the grid to the begin of a part: `earlier` by less than a period, or later
  /// if that is negative.
  void move(Duration earlier);
  /// Notes whether an instance moved the point to an earlier time.
  void count(bool moved);
  /// Notes that an instance began so late after a due time over which the executor slept.
  void slept_over(Duration late);
  /// Forgets what is known of the grid: `point` is on a new one.
  void restart(Instant point);
  [[nodiscard]] Instant last_point_until(Instant time) const;

  Duration period_;
  /// The timer was called for the instance before between these times.
  std::optional<Instant> called_after_;
  Instant called_before_;
  Instant phase_;  // a point of the grid, as known so far
  /// How much later the point is than it was when the first due time was returned, as long as it is
  /// a point of the same grid.
  Duration correction_{};
  bool is_same_grid_ = true;
  std::optional<Instant> spaced_;
  /// Instances of the present stretch, and those of them that moved the point to an earlier time.
  std::size_t instances_ = 0;
  std::size_t moves_ = 0;
  /// With a larger correction, an instance would have started before its timer was due.
  Duration most_correction_ = Duration::max();
  /// Sorted, apart from each other; the first begins with the point. Empty: nothing is known yet.
  std::vector<Part> parts_;
  /// How many instances in a row came after the executor had slept over the point, and how late the
  /// least late of them was.
  std::size_t sleeps_ = 0;
  Duration least_late_{};
};

}  // namespace takt::flow
