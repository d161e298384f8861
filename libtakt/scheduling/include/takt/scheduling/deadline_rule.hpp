#pragma once

namespace takt::scheduling {

/// Which deadline an instance of a chain has (edf-executor 3.2).
enum class DeadlineRule {
  /// Its own origin plus the chain's relative deadline.
  per_instance,
  /// The deadline fixed when the chain's previous instance completed: the timer's next expiry at
  /// that time plus the relative deadline, even if that expiry is skipped later. This rule spreads
  /// skipped instances over all chains of an overloaded executor.
  frozen_at_completion,
};

}  // namespace takt::scheduling
