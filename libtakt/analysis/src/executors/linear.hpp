#pragma once

#include <memory>

#include "executors/executor_analysis.hpp"

namespace takt::analysis {

/// The coarse analysis for executors whose own analysis takes more effort than is allowed: every
/// instance completes within the executor's longest busy window, and that is no longer than it
/// would be if each callback demanded a line above its demand. Where priorities order, the same
/// holds for windows of callbacks that are at least as urgent, after at most one less urgent
/// instance. O(callbacks · log callbacks) for all of them, whatever the load.
///
/// Null if it does not apply. It needs an executor that runs some instance if one waits, so no
/// table and no callback that waits for its chain; several threads must have a processor each, of
/// which one is then always in use; releases must cost nothing.
[[nodiscard]] std::unique_ptr<ExecutorAnalysis> make_linear(const Round& round,
                                                            ExecutorIndex executor);

}  // namespace takt::analysis
