#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/time/time.hpp"

namespace takt::execution {

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
///
/// The period may be changed while the timer runs, and a timer may follow another clock (simulated
/// time). Calls that no grid of the period allows show that. From then on the timer was due when it
/// ended its executor's sleep or, if the executor was busy, as long after the time before as it
/// usually is.
///
/// A thread that sleeps over several points was starved, or its timer was reset. No timer is called
/// less than a period after it was reset. So if the next call in time is sooner than that, and at a
/// point of the grid before, the thread was starved, and the timer was due at those points
/// meanwhile. A slower clock makes a thread sleep over points again and again, too, but always for
/// the same time.
///
/// An executor that keeps expiries, and runs several in a row, says when each was
/// (CallbackInstance::expired). Then nothing is estimated.
class TimerGrid {
 public:
  /// A period that is out of range (a damaged trace) counts as none.
  explicit TimerGrid(Duration period)
      : period_(std::clamp(period, Duration{0}, Duration(std::chrono::hours(240)))) {}

  /// Returns when the timer was due for an instance, without correction(). Another timer than
  /// before (CallbackInstance::timer), which goes on in its place, has a grid of its own.
  Instant add(const CallbackInstance& instance);

  /// An instance that was due at another time than add() said.
  struct Amendment {
    InstanceId id = InstanceId::none;
    Instant due;
  };
  /// What the instance that was added last shows of those before: that the timer was reset in
  /// between, or that it was not.
  [[nodiscard]] const std::vector<Amendment>& amended() const { return amended_; }

  /// Whether the timer has kept to grids of its period so far.
  [[nodiscard]] bool keeps_period() const { return keeps_period_; }

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
  Instant find_due(const CallbackInstance& instance, const std::optional<Instant>& woken);
  /// Notes that no point is within this time after `begin`, which itself may be one.
  void exclude(Instant begin, Duration length);
  void insert(Part part);
  /// Moves the point of the grid to the begin of a part: `earlier` by less than a period, or later
  /// if that is negative.
  void move(Duration earlier);
  /// Notes whether an instance moved the point to an earlier time.
  void count(bool moved);
  /// Notes that an instance began so late after a due time over which the executor slept. Returns
  /// how much later its point is than it was taken to be.
  Duration slept_over(Duration late);
  /// Forgets what is known of the grid: `point` is on a new one.
  void restart(Instant point);
  [[nodiscard]] Instant last_point_until(Instant time) const;
  /// Another timer has the same period.
  void begin_anew(TimerIndex timer);
  /// Notes when an instance was chosen and began, and whether so many can be calls of a timer of
  /// this period.
  void note_start(Instant start, Instant chosen);
  /// Notes that an instance contradicts the grid.
  void note_departure();
  /// Whether the newest start came as long after the one before as that after its own.
  [[nodiscard]] bool is_regular() const;
  /// Decides whether instances that came after sleeps over several points were late, or their timer
  /// was reset.
  void settle_long_sleeps(const CallbackInstance& instance, Instant called, Instant seen);
  /// Decides whether the timer was reset before the last instance or its executor woke up late.
  void settle_late_wake(Instant due, const std::optional<Instant>& woken, Instant start);
  /// When the timer was due that keeps to no grid.
  [[nodiscard]] Instant observed_due(const CallbackInstance& instance,
                                     const std::optional<Instant>& woken) const;
  /// Notes a due time, and whether the timer ended the executor's sleep then.
  void note_due(Instant due, bool woke);

  Duration period_;
  std::optional<TimerIndex> timer_;
  /// The timer was called for the instance before between these times.
  std::optional<Instant> called_after_;
  Instant called_before_;
  Instant phase_;  // a point of the grid, as known so far
  /// How much later the point is than it was when the first due time was returned, as long as it is
  /// a point of the same grid.
  Duration correction_{};
  bool is_same_grid_ = true;
  bool keeps_period_ = true;
  std::vector<Amendment> amended_;
  /// The instance that was added last.
  InstanceId newest_ = InstanceId::none;
  /// The newest starts, the n-th at n modulo `most_starts`, and how many there were.
  static constexpr std::size_t most_starts = 16;
  std::array<Instant, most_starts> newest_starts_{};
  std::size_t starts_ = 0;
  /// The number of starts when the grid was contradicted last, and how often it was in a row.
  std::optional<std::size_t> departure_;
  std::size_t departures_ = 0;
  /// Instances that ended a sleep at points of the present grid.
  std::size_t woken_ = 0;
  /// The last instance came after a sleep over its due time; its executor woke up then.
  std::optional<Instant> late_wake_;
  /// The instances since the executor slept over several points, and when they were due if the
  /// timer was not reset then: if `former_phase_` is a point still.
  std::vector<Amendment> late_sleepers_;
  Instant former_phase_;
  /// The due time before, and whether the timer ended a sleep then.
  std::optional<Instant> last_due_;
  bool last_woke_ = false;
  /// The newest times between due times that ended a sleep.
  static constexpr std::size_t most_distances = 5;
  std::array<Duration, most_distances> distances_{};
  std::size_t distance_count_ = 0;
  /// Instances of the present stretch, and those of them that moved the point to an earlier time.
  std::size_t instances_ = 0;
  std::size_t moves_ = 0;
  /// How much earlier the point may be: if it is earlier by more, an executor slept over a point
  /// and then ran the timer as soon as it woke up.
  Duration room_ = Duration::max();
  /// With a larger correction, an instance would have started before its timer was due.
  Duration most_correction_ = Duration::max();
  /// Sorted, apart from each other; the first begins with the point. Empty: nothing is known yet.
  std::vector<Part> parts_;
  /// How many instances in a row came after the executor had slept over the point, and how late the
  /// least late of them was.
  std::size_t sleeps_ = 0;
  Duration least_late_{};
};

}  // namespace takt::execution
