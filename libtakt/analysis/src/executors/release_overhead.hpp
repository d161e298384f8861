#pragma once

#include "executors/executor_analysis.hpp"

namespace takt::analysis {

/// The longest time that releases take from an executor of events between its decision to run an
/// instance of `callback` and its end (component-cps Eq. 3.1): each timer's expiry and each
/// message costs LocalExecutor::release_overhead, on the same processor and before the executor's
/// thread. Adding it to the cost of every instance accounts for all releases that delay anything.
///
/// Callbacks of the executor itself send messages without delay only while they run, so meanwhile
/// only those of this instance come: at most one along each of its edges. unbounded_time above the
/// horizon.
[[nodiscard]] Duration release_overhead(const Round& round, ExecutorIndex index,
                                        CallbackIndex callback);

/// The longest time for which releases put off a decision of the executor, which then also looks at
/// what has been activated meanwhile. The cost of the instance that it chooses contains this time.
[[nodiscard]] Duration releases_before_decision(const Round& round, ExecutorIndex index);

}  // namespace takt::analysis
