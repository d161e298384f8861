#pragma once

#include <mutex>

#include "takt/time/time.hpp"

namespace takt::executor {

/// Expiries of a timer, which executors know by CLOCK_MONOTONIC, on the timer's own clock. From any
/// thread.
class ExpiryTimes {
 public:
  /// The timer, which has this period, has expired: when, by both clocks.
  void set(Instant monotonic, Duration own, Duration period);

  /// When an expiry was due by the timer's own clock.
  [[nodiscard]] Duration own(Instant expiry) const;

 private:
  mutable std::mutex mutex_;
  Instant monotonic_;
  Duration own_{};
  Duration period_{};
};

}  // namespace takt::executor
