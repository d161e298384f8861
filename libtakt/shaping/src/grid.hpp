#pragma once

#include "takt/time/time.hpp"

namespace takt::shaping {

/// The first point of the grid at `time` or after it.
inline Duration round_up(Duration time, Duration grid) {
  return (time + grid - epsilon) / grid * grid;
}

/// For messages.
inline double milliseconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }

}  // namespace takt::shaping
