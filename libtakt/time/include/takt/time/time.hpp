#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace takt {

/// A length of time: a signed 64-bit count of nanoseconds.
using Duration = std::chrono::duration<std::int64_t, std::nano>;

/// The clock of every trace and every executor: CLOCK_MONOTONIC of the recorded host, nanoseconds.
/// It only names the time line of an Instant; std::chrono::steady_clock reads it.
struct TraceClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<TraceClock, Duration>;
  static constexpr bool is_steady = true;
};

/// A point on a host's monotonic time line.
using Instant = TraceClock::time_point;

/// Times that somebody else wrote are limited to 73 years before and after the origin. Sums and
/// differences of two such times do not overflow.
inline constexpr Duration longest_time{std::int64_t{1} << 61};

[[nodiscard]] constexpr Duration bounded(Duration time) {
  return std::clamp(time, -longest_time, longest_time);
}

/// How far a time is into its period, from 0 to less than the period, which must be positive.
[[nodiscard]] constexpr Duration modulo(Duration time, Duration period) {
  const Duration rest = time % period;
  return rest < Duration{0} ? rest + period : rest;
}

/// The smallest unit of time, the ε of the analyses: windows are half-open and times are integers.
inline constexpr Duration epsilon{1};

}  // namespace takt
