#pragma once

namespace takt::scheduling {

/// Which deadline an instance of a chain has (edf-executor 3.2).
enum class DeadlineRule {
  /// Its own origin plus the chain's relative deadline.
  per_instance,
  /// The one fixed when the chain's previous instance completed: what was then the timer's next
  /// expiry plus the relative deadline, also if that expiry is skipped later. It spreads skipped
  /// instances over all chains of an overloaded executor.
  frozen_at_completion,
};

}  // namespace takt::scheduling
