#include "takt/flow/timer_grid.hpp"

#include <ranges>

namespace takt::flow {

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

}  // namespace

Instant TimerGrid::last_point_until(Instant time) const {
  return time - modulo(time - phase_, period_);
}

void TimerGrid::restart(Instant point) {
  is_same_grid_ = false;
  phase_ = point;
  parts_.clear();
  sleeps_ = 0;
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
  if (parts_.empty()) {
    move(before);
    insert({Duration{0}, length});
    return;
  }
  const bool continues = after == Duration{0} || after < parts_.front().end;
  const bool has_the_point = !continues && after + length > period_;
  // Takes the place for the point that makes the timer less late.
  const bool less_late_if_earlier = before + parts_.back().end < after + length;
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

void TimerGrid::slept_over(Duration late) {
  least_late_ = sleeps_ == 0 ? late : std::min(least_late_, late);
  if (++sleeps_ < convincing) return;
  sleeps_ = 0;
  const auto later = std::ranges::upper_bound(parts_, least_late_, {}, &Part::begin);
  if (later - parts_.begin() <= 1) return;
  const Duration shift = std::prev(later)->begin;
  move(-shift);
  // If instances started before the new points, they were due at points of the old grid.
  if (correction_ > most_correction_) correction_ -= shift;
}

Instant TimerGrid::add(const execution::CallbackInstance& instance) {
  const Duration before = correction_;
  const Instant found = find_due(instance);
  count(correction_ < before);
  const Instant due = found - correction_;
  most_correction_ = std::min(most_correction_, instance.start - due);
  const Instant next = spaced_ ? *spaced_ + period_ : due;
  spaced_ = next > instance.start + period_ ? due : std::max(due, next);
  return due;
}

Instant TimerGrid::find_due(const execution::CallbackInstance& instance) {
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
  if (start - called < period_) exclude(start, period_ - (start - called));
  Instant due = last_point_until(called) + period_;
  if (due > start) {
    move(due - start);
    due = start;
  }
  // The call was not before the due time, even if the executor chose it a moment before the point
  // as it is known so far.
  called_after_ = std::max(instance.chosen, due);
  const bool waited = instance.wait_begin && *instance.wait_begin <= due;
  if (waited && *instance.wait_end > due + period_) {
    // Nothing was due for a whole period: the timer was reset.
    restart(*instance.wait_end);
    due = *instance.wait_end;
  }
  if (waited && *instance.wait_end > due) {
    slept_over(start - due);
  } else {
    sleeps_ = 0;
  }
  return due;
}

}  // namespace takt::flow
