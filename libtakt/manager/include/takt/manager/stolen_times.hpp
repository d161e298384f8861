#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>

#include "takt/time/time.hpp"

namespace takt::manager {

/// When the host of a virtual machine took its processors, by readings of linux_os::stolen_time().
/// Knows no clock.
class StolenTimes {
 public:
  /// Of what was taken earlier nothing is known any more.
  static constexpr std::size_t most = 1024;

  /// Linux says what was taken in steps of this length: less than one more may have been.
  static constexpr Duration step = std::chrono::milliseconds{10};

  /// Until now so much was taken in all.
  void read(Instant now, Duration total);
  /// The most that was taken between these moments: all that was taken between two readings counts
  /// where a part of the time between them does.
  [[nodiscard]] Duration within(Instant from, Instant until) const;

 private:
  /// Between two readings.
  struct Taken {
    Instant after;
    Instant by;
    Duration time{};
  };
  std::deque<Taken> taken_;
  std::optional<Instant> read_;
  Duration total_{};
};

}  // namespace takt::manager
