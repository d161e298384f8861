#pragma once

#include "executor_analysis.hpp"

namespace takt::analysis {

/// The longest time that releases take from an executor of events between its decision to run an
/// instance of `callback` and the end of that (component-cps Eq. 3.1): each timer's expiry and each
/// message costs LocalExecutor::release_overhead, on the same processor and before the executor's
/// thread. Adding it to the cost of every instance accounts for all releases that delay anything.
///
/// Messages without delay from callbacks of the executor itself can only be those of this instance:
/// at most one along each of its edges. unbounded_time if there is no limit below the horizon.
[[nodiscard]] Duration release_overhead(const Round& round, ExecutorIndex index,
                                        CallbackIndex callback);

}  // namespace takt::analysis
