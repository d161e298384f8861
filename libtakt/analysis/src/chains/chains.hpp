#pragma once

#include <span>
#include <string>
#include <vector>

#include "executors/executor_analysis.hpp"
#include "fixed_point/fixed_point.hpp"
#include "system/system.hpp"
#include "takt/analysis/bounds.hpp"
#include "takt/model/model.hpp"

namespace takt::analysis {

/// The edges from one callback to another.
[[nodiscard]] std::vector<const model::Edge*> edges_between(const model::Model& model,
                                                            CallbackIndex from, CallbackIndex to);

/// Whether messages from one callback to another wait until it takes them, and do not activate it.
[[nodiscard]] bool wait_between(const model::Model& model, CallbackIndex from, CallbackIndex to);

/// Why nothing limits how long messages wait between two callbacks; empty: the second is a timer or
/// has a period.
[[nodiscard]] std::string why_they_wait(const model::Model& model, CallbackIndex from,
                                        CallbackIndex to);

/// Consecutive callbacks of a chain that are bounded at once: each is pending as soon as the one
/// before publishes (ros-llama Lemma 7).
struct Stretch {
  std::span<const CallbackIndex> callbacks;
  /// The longest delay of the messages that lead to it.
  Duration delay{};
  /// Whether its first callback samples these messages; otherwise they activate it.
  bool sampled = false;
  /// Whether messages within it take time, so that only an exploration bounds it at once.
  bool explored = false;
};

/// The stretches of a chain. They end where the executor changes, where a message takes time or is
/// sampled, and, with `end_before_joins`, before every join, where a message may wait for others.
[[nodiscard]] std::vector<Stretch> stretches_of(const model::Model& model, const System& system,
                                                std::span<const CallbackIndex> chain,
                                                bool end_before_joins);

/// The stretches whose bounds add up to the bound of a chain: those that joins do not end, or
/// several of them at once where an exploration of their executor's schedules has found a bound
/// that is lower than their sum.
[[nodiscard]] std::vector<Stretch> bounded_stretches(const model::Model& model,
                                                     const System& system,
                                                     std::span<const CallbackIndex> chain,
                                                     FixedPoint& solution);

/// The bound of a stretch, from the activation of its first callback to the completion of its last.
[[nodiscard]] LocalBound bound_of(const Stretch& stretch, FixedPoint& solution);

/// The bounds of a chain, from the bounds of its callbacks. O(callbacks of the chain · analysis of
/// one callback).
[[nodiscard]] ChainBound chain_bound(const model::Model& model, const model::Chain& chain,
                                     const System& system, FixedPoint& solution);

}  // namespace takt::analysis
