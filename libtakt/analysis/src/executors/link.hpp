#pragma once

#include <memory>

#include "executors/executor_analysis.hpp"

namespace takt::analysis {

/// A link between hosts, whose messages are sent in chunks: fixed priorities with deferred
/// preemption (Bril, Lukkien, Verhaegh 2009; docs/analysis-theory.md, Links). The most urgent
/// message goes first, first come, first served among equals, and a decision is made after each
/// chunk.
[[nodiscard]] std::unique_ptr<ExecutorAnalysis> make_link(const Round& round,
                                                          ExecutorIndex executor);

}  // namespace takt::analysis
