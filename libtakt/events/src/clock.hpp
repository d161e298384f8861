#pragma once

#include <algorithm>
#include <cstdint>

#include "takt/base/int128.hpp"
#include "takt/time/time.hpp"

namespace takt::events {

/// How a trace's clock counts. All results are bounded() whatever the trace says.
struct ClockScale {
  /// Cycles per second; 0 counts as nanoseconds.
  std::uint64_t frequency = nanoseconds_per_second;

  [[nodiscard]] Duration time(std::uint64_t cycles) const { return scaled(0, cycles); }

  /// The time since the epoch at which the clock showed 0.
  [[nodiscard]] Duration offset(std::int64_t seconds, std::uint64_t cycles) const {
    return scaled(seconds, cycles);
  }

  static constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;

 private:
  [[nodiscard]] Duration scaled(std::int64_t seconds, std::uint64_t cycles) const {
    const Int128 fraction = static_cast<Int128>(cycles) * nanoseconds_per_second /
                            (frequency == 0 ? nanoseconds_per_second : frequency);
    const Int128 sum = static_cast<Int128>(seconds) * nanoseconds_per_second + fraction;
    return Duration(static_cast<std::int64_t>(
        std::clamp<Int128>(sum, -Int128{longest_time.count()}, Int128{longest_time.count()})));
  }
};

}  // namespace takt::events
