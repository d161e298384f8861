#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "takt/execution/objects.hpp"
#include "takt/links/link.hpp"
#include "takt/synthesis/observations.hpp"

namespace takt::synthesis {

/// A subscription keeps its messages, and a timer of its node reads what is kept.
struct SampledInput {
  ObservedCallbackIndex subscription;
  ObservedCallbackIndex timer;
  /// Percent; none if it is declared.
  std::optional<std::int64_t> confidence;
};

/// The inputs that timers sample by these links. Where a link names no timer, it is each of the
/// node that published on one of its topics.
///
/// A wrong one adds chains and makes no bound smaller, because a timer's activations are its own.
[[nodiscard]] std::vector<SampledInput> find_sampled_inputs(const Observations& observations,
                                                            const execution::Objects& objects,
                                                            std::span<const links::Link> links);

}  // namespace takt::synthesis
