#include "takt/execution/timer_grid.hpp"

#include <ranges>
#include <utility>

namespace takt::execution {

namespace {

/// Parts of a period that are kept apart; more are joined where they are nearest.
constexpr std::size_t most_parts = 8;
/// So many late wake-ups in a row are no coincidence.
constexpr std::size_t convincing = 8;
/// If more instances than this of a stretch move the point to an earlier time, the timer keeps to
/// no grid. The n-th instance of a true grid does so with a probability of 1/n: only if it is the
/// least late of all so far.
constexpr std::size_t stretch = 64;
constexpr std::size_t most_moves = 16;
/// If so many instances ended sleeps at points of a grid, it is no coincidence.
constexpr std::size_t least_woken = 4;
/// A timer that is called off its grid so often in a row does not keep its period.
constexpr std::size_t most_departures = 4;
/// An executor that wakes up later than this after a point may have been woken by a timer that was
/// reset.
constexpr Duration shortest_reset = std::chrono::milliseconds(1);
/// So long before a point as it is known an executor may wake up for it.
constexpr Duration earliest_wake = std::chrono::microseconds(100);
/// After more instances than this nothing is learned of those before.
constexpr std::size_t most_amended = 16;

}  // namespace

Instant TimerGrid::last_point_until(Instant time) const {
  return time - modulo(time - phase_, period_);
}

void TimerGrid::restart(Instant point) {
  is_same_grid_ = false;
  phase_ = point;
  parts_.clear();
  sleeps_ = 0;
  room_ = Duration::max();
}

void TimerGrid::insert(Part part) {
  // Parts that only touch stay apart: the point may be between them.
  const auto meets = [&](const Part& other) {
    return (other.begin < part.end && part.begin < other.end) || other.begin == part.begin;
  };
  for (const Part& other : parts_ | std::views::filter(meets)) {
    part = {std::min(part.begin, other.begin), std::max(part.end, other.end)};
  }
  std::erase_if(parts_, meets);
  parts_.insert(std::ranges::upper_bound(parts_, part.begin, {}, &Part::begin), part);
  if (parts_.size() <= most_parts) return;
  std::size_t nearest = 1;
  const auto gap = [&](std::size_t i) { return parts_[i].begin - parts_[i - 1].end; };
  for (std::size_t i = 2; i < parts_.size(); ++i) {
    if (gap(i) < gap(nearest)) nearest = i;
  }
  parts_[nearest - 1].end = parts_[nearest].end;
  parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(nearest));
}

void TimerGrid::move(Duration earlier) {
  phase_ -= earlier;
  if (room_ != Duration::max()) room_ -= earlier;
  // The point is at most a period before the first instance at first, and then goes through less
  // than a period.
  is_same_grid_ = is_same_grid_ && correction_ - earlier > -2 * period_;
  if (is_same_grid_) correction_ -= earlier;
  for (Part& part : parts_) {
    const Duration length = part.end - part.begin;
    part.begin = modulo(part.begin + earlier, period_);
    part.end = part.begin + length;
  }
  std::ranges::sort(parts_, {}, &Part::begin);
  sleeps_ = 0;
}

void TimerGrid::count(bool moved) {
  if (moved && ++moves_ == most_moves) is_same_grid_ = false;
  if (++instances_ == stretch) instances_ = moves_ = 0;
}

void TimerGrid::exclude(Instant begin, Duration length) {
  const Duration after = modulo(begin - phase_, period_);
  const Duration before = modulo(phase_ - begin, period_);
  const Duration known_until = parts_.empty() ? Duration{0} : parts_.back().end;
  // An earlier point makes the instances before later than they were taken to be, all of them.
  const auto others = static_cast<std::int64_t>(std::min(starts_ - 1, most_starts));
  const bool less_late_if_earlier =
      before <= room_ && before * others + known_until < after + length;
  if (parts_.empty()) {
    if (less_late_if_earlier) {
      move(before);
      insert({Duration{0}, length});
      return;
    }
    insert({Duration{0}, Duration{0}});  // the point is where it was taken to be
  }
  const bool continues = after == Duration{0} || after < parts_.front().end;
  const bool has_the_point = !continues && after + length > period_;
  const Duration correction = correction_;
  if (!continues && (has_the_point || less_late_if_earlier)) {
    move(before);
    insert({Duration{0}, length});
  } else {
    insert({after, after + length});
  }
  // No place is left: the timer was reset, or was called long before its callback began.
  if (parts_.front().end > period_) {
    correction_ = correction;
    restart(begin);
  }
}

Duration TimerGrid::slept_over(Duration late) {
  least_late_ = sleeps_ == 0 ? late : std::min(least_late_, late);
  if (++sleeps_ < convincing) return {};
  sleeps_ = 0;
  const auto later = std::ranges::upper_bound(parts_, least_late_, {}, &Part::begin);
  if (later - parts_.begin() <= 1) return {};
  const Duration shift = std::prev(later)->begin;
  move(-shift);
  // If instances started before the new points, they were due at points of the old grid.
  if (correction_ > most_correction_) correction_ -= shift;
  return shift;
}

void TimerGrid::note_start(Instant start, Instant chosen) {
  // An instance that ran beside others may end, and be added, after those that began later.
  std::size_t place = starts_++;
  const std::size_t oldest = starts_ > most_starts ? starts_ - most_starts : 0;
  for (; place > oldest && newest_starts_[(place - 1) % most_starts] > chosen; --place) {
    newest_starts_[place % most_starts] = newest_starts_[(place - 1) % most_starts];
  }
  newest_starts_[place % most_starts] = chosen;
  if (place + 1 < starts_) return;
  const auto is_too_dense = [&](std::size_t count, Duration allowed) {
    return starts_ >= count && start - newest_starts_[(starts_ - count) % most_starts] < allowed;
  };
  // Of n calls the second is due after the first, so they span n - 2 periods. A start may be later
  // than its call, so some of that is left.
  if (is_too_dense(4, 16 * period_ / 10) || is_too_dense(most_starts, 137 * period_ / 10)) {
    keeps_period_ = false;
  }
}

void TimerGrid::note_departure() {
  if (departure_ == starts_) return;
  // A timer that is reset now and then keeps its period.
  departures_ = departure_ == starts_ - 1 ? departures_ + 1 : 1;
  keeps_period_ = keeps_period_ && departures_ < most_departures;
  departure_ = starts_;
  woken_ = 0;
}

void TimerGrid::settle_late_wake(Instant due, const std::optional<Instant>& woken, Instant start) {
  const auto late = std::exchange(late_wake_, std::nullopt);
  if (!late) return;
  const Instant seen = woken.value_or(start);
  const Duration after = modulo(seen - *late, period_);
  const Duration from_new = std::min(after, period_ - after);
  if (seen < due ? from_new < shortest_reset : from_new < (seen - due) / 8) {
    amended_.push_back({newest_, *late - correction_});
    note_departure();
    restart(*late);
  }
}

bool TimerGrid::is_regular() const {
  if (starts_ < 3) return false;
  const auto start = [&](std::size_t back) {
    return newest_starts_[(starts_ - 1 - back) % most_starts];
  };
  return std::chrono::abs((start(0) - start(1)) - (start(1) - start(2))) < shortest_reset;
}

void TimerGrid::settle_long_sleeps(const CallbackInstance& instance, Instant called, Instant seen) {
  if (late_sleepers_.empty()) return;
  const Duration early = std::min(earliest_wake, period_ / 64);
  // Whether it was called at the first point after the call before, on a grid with this point.
  const auto first_after_call = [&](Instant point) {
    const Instant after = called + early;
    return after - modulo(after - point, period_) + period_;
  };
  const auto is_in_time = [&](Instant due) {
    const Duration late = seen - due;
    return late > -early && late < std::min(shortest_reset, period_ / 16);
  };
  const Instant due = first_after_call(former_phase_);
  if (is_in_time(first_after_call(phase_)) || due > instance.start + early ||
      late_sleepers_.size() == most_amended) {
    late_sleepers_.clear();
  } else if (is_in_time(due)) {
    amended_ = std::exchange(late_sleepers_, {});
    departures_ = 0;
    late_wake_.reset();
    restart(former_phase_);
  } else {
    late_sleepers_.push_back({instance.id, due - correction_});
  }
}

Instant TimerGrid::observed_due(const CallbackInstance& instance,
                                const std::optional<Instant>& woken) const {
  if (woken || !last_due_ || distance_count_ == 0) return woken.value_or(instance.start);
  std::array<Duration, most_distances> sorted = distances_;
  const std::size_t count = std::min(distance_count_, most_distances);
  std::ranges::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
  const Instant earliest = std::min(
      std::max(called_after_.value_or(*last_due_), instance.slept_until.value_or(*last_due_)),
      instance.start);
  return std::clamp(*last_due_ + sorted[count / 2], earliest, instance.start);
}

void TimerGrid::note_due(Instant due, bool woke) {
  if (woke && last_woke_) distances_[distance_count_++ % most_distances] = due - *last_due_;
  last_due_ = due;
  last_woke_ = woke;
}

void TimerGrid::begin_anew(TimerIndex timer) {
  if (timer_ && *timer_ != timer) {
    is_same_grid_ = false;
    called_after_.reset();
    parts_.clear();
    sleeps_ = starts_ = woken_ = distance_count_ = 0;
    departure_.reset();
    late_wake_.reset();
    late_sleepers_.clear();
    last_due_.reset();
    last_woke_ = false;
    room_ = Duration::max();
  }
  timer_ = timer;
}

Instant TimerGrid::add(const CallbackInstance& instance) {
  if (instance.timer) begin_anew(*instance.timer);
  amended_.clear();
  if (instance.expired) return *instance.expired - correction_;
  note_start(instance.start, instance.chosen);
  // The timer ended a sleep if it runs right after it.
  const bool woke = instance.first_after_wait && instance.slept_until &&
                    instance.slept_until == instance.wait_end;
  const auto woken = woke ? instance.slept_until : std::nullopt;
  if (!keeps_period_) {
    late_wake_.reset();
    is_same_grid_ = false;
    const Instant due = observed_due(instance, woken);
    called_after_ = instance.start;
    called_before_ = instance.start;
    note_due(due, woke);
    return due - correction_;
  }
  const Duration before = correction_;
  const bool slept_since = instance.slept_from && called_before_ <= *instance.slept_from;
  const Instant due = find_due(instance, woken) - correction_;
  if (slept_since) {
    room_ = std::min(room_, std::max(Duration{0}, due + correction_ - *instance.slept_from));
  }
  count(correction_ < before);
  most_correction_ = std::min(most_correction_, instance.start - due);
  note_due(due + correction_, woke);
  newest_ = instance.id;
  return due;
}

Instant TimerGrid::find_due(const CallbackInstance& instance, const std::optional<Instant>& woken) {
  const Instant start = instance.start;
  if (!called_after_) {
    phase_ = start;
    called_before_ = start;
  }
  const Instant called = called_after_.value_or(start);
  if (period_ == Duration{0} || start <= called_before_) {
    // For the first instance, or one that ran beside another, no better due time is known.
    if (!called_after_) called_after_ = start;
    return period_ == Duration{0} ? start : last_point_until(start);
  }
  called_before_ = start;
  settle_late_wake(last_point_until(called) + period_, woken, start);
  settle_long_sleeps(instance, called, woken.value_or(start));
  if (woken_ >= least_woken && last_point_until(called) + 3 * period_ / 4 > start) {
    // Its executor had slept until points of the grid again and again: they were no late ones.
    note_departure();
    restart(woken.value_or(start));
  } else if (start - called < period_) {
    exclude(start, period_ - (start - called));
  }
  Instant due = last_point_until(called) + period_;
  if (due > start) {
    move(due - start);
    due = start;
  }
  // The call was not before the due time, even if the executor chose it a moment before the point
  // as it is known so far.
  called_after_ = std::max(instance.chosen, due);
  const bool passed_over = instance.earlier_wait && *instance.earlier_wait > due;
  const bool waited = instance.wait_begin && *instance.wait_begin <= due;
  if (passed_over || (waited && *instance.wait_end >= due + period_)) {
    // The executor looked for work twice since, or nothing was due for a whole period: the timer
    // was reset, unless it turns out that its thread was starved.
    if (passed_over) {
      late_sleepers_.clear();
    } else if (late_sleepers_.empty()) {
      former_phase_ = phase_;
      late_sleepers_.push_back({instance.id, due - correction_});
    }
    if (passed_over || is_regular()) note_departure();
    const Instant seen =
        passed_over ? std::max(instance.slept_until.value_or(called), called) : *instance.wait_end;
    due = std::min(woken.value_or(seen), start);
    restart(due);
  } else if (woken && *woken > due + shortest_reset) {
    late_wake_ = woken;
  }
  if (waited && *instance.wait_end > due) {
    due += slept_over(start - due);
    called_after_ = std::max(*called_after_, due);
  } else {
    sleeps_ = 0;
  }
  woken_ += woken ? 1u : 0u;
  return due;
}

}  // namespace takt::execution
