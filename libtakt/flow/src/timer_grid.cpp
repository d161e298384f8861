#include "takt/flow/timer_grid.hpp"

#include <algorithm>

namespace takt::flow {

Instant TimerGrid::add(const execution::CallbackInstance& instance) {
  const Instant start = instance.start;
  if (!started_) {
    started_ = true;
    first_ = start;
    phase_ = start;
    next_ = period_;
    return first_;
  }
  if (start < phase_ + next_) {
    phase_ = start - next_;
  } else if (instance.wait_begin && *instance.wait_begin <= phase_ + next_ &&
             *instance.wait_end > phase_ + next_ + period_) {
    // The executor slept through a whole period, so nothing was due: the timer was reset.
    next_ = *instance.wait_end - phase_;
  }
  const Duration due = next_;
  const Duration late = start - (phase_ + due);
  const auto skipped = period_.count() > 0 ? (late.count() + period_.count() - 1) / period_.count()
                                           : std::int64_t{0};
  next_ = due + period_ * std::max<std::int64_t>(skipped, 1);
  return first_ + due;
}

}  // namespace takt::flow
