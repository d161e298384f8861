#include "takt/executor/expiry_times.hpp"

#include <algorithm>
#include <utility>

namespace takt::executor {
namespace {

/// The multiple of `unit` that is nearest.
Duration nearest_multiple(Duration duration, Duration unit) {
  const Duration half = duration < Duration{0} ? -unit / 2 : unit / 2;
  return (duration + half) / unit * unit;
}

}  // namespace

std::uint64_t ExpiryTimes::resets() const {
  const std::scoped_lock lock(mutex_);
  return resets_;
}

void ExpiryTimes::set(Instant monotonic, Duration own, Duration period, std::uint64_t resets) {
  const std::scoped_lock lock(mutex_);
  if (resets != resets_) return;
  monotonic_ = monotonic;
  own_ = own;
  period_ = period;
  // A simulated clock may leap, by which a later expiry seems to be older.
  first_ = std::exchange(is_reset_, false) ? monotonic : std::min(first_, monotonic);
}

void ExpiryTimes::reset() {
  const std::scoped_lock lock(mutex_);
  is_reset_ = true;
  ++resets_;
}

std::optional<Duration> ExpiryTimes::own(Instant expiry) const {
  const std::scoped_lock lock(mutex_);
  if (is_reset_ || expiry < first_) return std::nullopt;
  if (period_ == Duration{0}) return own_;
  // Readings of two clocks differ a little, expiries are whole periods apart.
  return own_ + nearest_multiple(expiry - monotonic_, period_);
}

}  // namespace takt::executor
