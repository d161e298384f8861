#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "takt/execution/objects.hpp"
#include "takt/synthesis/observations.hpp"

namespace takt::synthesis {

/// A subscription keeps its messages, and a timer of its node reads what is kept.
struct SampledInput {
  ObservedCallbackIndex subscription;
  ObservedCallbackIndex timer;
  /// Percent; none if the program declares it.
  std::optional<std::int64_t> confidence;
};

/// The inputs that timers sample:
///
/// - those that programs declare (message-flow 1.5b, periodic and asynchronous links);
/// - those inferred: a subscription that publishes nothing and a timer of the same node that does.
///   If the timer ran n times without publishing until the first message came, the confidence is
///   100 n / (n + 1), else 50; several such timers of a node share it.
///
/// A wrong one adds chains and makes no bound smaller, because a timer's activations are its own.
[[nodiscard]] std::vector<SampledInput> find_sampled_inputs(const Observations& observations,
                                                            const execution::Objects& objects);

}  // namespace takt::synthesis
