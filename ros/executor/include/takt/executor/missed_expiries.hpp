#pragma once

namespace takt::executor {

/// What becomes of a timer's expiry while an earlier one waits to run.
enum class MissedExpiries {
  /// It becomes an instance as well, up to TimerExecutable::most_waiting.
  all,
  /// It is skipped, as by executors that wait on a wait set.
  skip,
  /// It takes the place of the earlier one.
  latest,
};

}  // namespace takt::executor
