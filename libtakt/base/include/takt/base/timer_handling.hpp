#pragma once

namespace takt {

/// Whether timers pass through the ready set of the default executor like all other callbacks
/// (ROS 2 from Eloquent on), or bypass it and come first (up to Dashing).
enum class TimerHandling { polled, privileged };

}  // namespace takt
