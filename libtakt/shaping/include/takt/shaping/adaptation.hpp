#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "takt/shaping/placement.hpp"
#include "takt/time/time.hpp"

namespace takt::shaping {

/// Chooses slots anew while a chain runs, when its latencies have drifted: the best slots for the
/// latest ones replace the present ones if an output missed these, or if the mean latency becomes
/// shorter by `worthwhile`. It knows no clock: the same latencies give the same slots.
class Adaptation {
 public:
  /// Outputs that are looked at, and outputs between two looks.
  static constexpr std::size_t window = 1024;
  static constexpr std::size_t interval = 256;
  /// A gain of a smaller share of the mean latency is not worth a change, which a controller has to
  /// follow.
  static constexpr double worthwhile = 0.02;

  /// `slots`: the present ones. `options` are those that they were chosen by.
  Adaptation(PlacementOptions options, std::vector<Slot> slots)
      : options_(options), slots_(std::move(slots)) {}

  /// Takes in how long after the beginning of its cycle an output was ready. Returns slots that are
  /// better from now on; none: the present ones stay. As place() at every look, O(window) memory.
  [[nodiscard]] std::optional<std::vector<Slot>> observe(Duration ready);

 private:
  PlacementOptions options_;
  std::vector<Slot> slots_;
  std::deque<Duration> recent_;
  std::size_t until_look_ = window;
};

}  // namespace takt::shaping
