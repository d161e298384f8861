#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "takt/time/time.hpp"

namespace takt::executor {

/// Expiries of a timer, which executors know by CLOCK_MONOTONIC, on the timer's own clock. From any
/// thread.
class ExpiryTimes {
 public:
  /// How often the timer has been reset. Ask for it before the timer is called.
  [[nodiscard]] std::uint64_t resets() const;

  /// The timer, which has this period, has expired: when, by both clocks. Without effect if it has
  /// been reset since it was called, as the expiry is void then.
  void set(Instant monotonic, Duration own, Duration period, std::uint64_t resets);

  /// The timer has been reset: the expiries so far are void.
  void reset();

  /// When an expiry was due by the timer's own clock; none: it is void.
  [[nodiscard]] std::optional<Duration> own(Instant expiry) const;

 private:
  mutable std::mutex mutex_;
  Instant monotonic_;
  Duration own_{};
  Duration period_{};
  /// The oldest expiry that is not void; while `is_reset_`, all are.
  Instant first_;
  bool is_reset_ = false;
  std::uint64_t resets_ = 0;
};

}  // namespace takt::executor
