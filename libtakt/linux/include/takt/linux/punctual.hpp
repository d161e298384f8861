#pragma once

#include <algorithm>

#include "takt/linux/thread_clock.hpp"
#include "takt/time/time.hpp"

/// For work that must be done at an instant and not a little later. A virtual processor that is
/// idle takes up to 0.3 ms to run a thread that is due; one that is running takes next to nothing.
namespace takt::linux_os {

/// How long before the end of such a wait to wake up, so as to poll for the rest: 0.2 ms, and at
/// most a fiftieth of the wait, which is the share of a processor that it costs.
[[nodiscard]] constexpr Duration wakes_ahead(Duration wait) {
  constexpr Duration usual{200'000};
  return std::clamp(wait / 50, Duration{0}, usual);
}

/// Polls until that instant, or until `stop()`.
template <typename Stop>
void poll_until(Instant when, const Stop& stop) {
  while (monotonic_now() < when && !stop()) {
  }
}

}  // namespace takt::linux_os
