#include "takt/executor/expiry_times.hpp"

namespace takt::executor {
namespace {

/// The multiple of `unit` that is nearest.
Duration nearest_multiple(Duration duration, Duration unit) {
  const Duration half = duration < Duration{0} ? -unit / 2 : unit / 2;
  return (duration + half) / unit * unit;
}

}  // namespace

void ExpiryTimes::set(Instant monotonic, Duration own, Duration period) {
  const std::scoped_lock lock(mutex_);
  monotonic_ = monotonic;
  own_ = own;
  period_ = period;
}

Duration ExpiryTimes::own(Instant expiry) const {
  const std::scoped_lock lock(mutex_);
  if (period_ == Duration{0}) return own_;
  // Readings of two clocks differ a little, expiries are whole periods apart.
  return own_ + nearest_multiple(expiry - monotonic_, period_);
}

}  // namespace takt::executor
