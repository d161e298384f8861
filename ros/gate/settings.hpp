#pragma once

#include <optional>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/shaping/overshoot.hpp"
#include "takt/shaping/placement.hpp"
#include "takt/time/time.hpp"

namespace takt::gate {

/// The settings of a gate, for one chain of a `takt/shaping` document.
struct Settings {
  /// The topic on which outputs leave, and the one from which they come.
  std::string topic;
  std::string input;
  Duration period{};
  Duration publish_time{};
  Duration shortest{};
  shaping::Overshoot overshoot = shaping::Overshoot::degrade;
  std::vector<shaping::Slot> slots;
  /// The source that tells when cycles begin: messages of a topic, or a loop outside of ROS 2
  /// (external_phase.hpp). Neither: cycles begin at multiples of the period.
  std::optional<std::string> phase_topic{};
  std::optional<std::string> phase_external{};
  Duration phase_delay{};
  /// The priority under SCHED_FIFO; 0: scheduled as the process.
  int priority = 0;
  std::optional<int> processor{};
  /// How slots are chosen anew when the latencies drift; none: they stay.
  std::optional<shaping::PlacementOptions> adapt{};
};

/// From a JSON object: topic, input, period, publish_time, shortest, overshoot, slots, phase_topic,
/// phase_external, phase_delay, priority, processor, adapt (bands, grid, slack, tail, freshness,
/// confidence); times in nanoseconds.
[[nodiscard]] Result<Settings> parse_settings(const std::string& text);

}  // namespace takt::gate
