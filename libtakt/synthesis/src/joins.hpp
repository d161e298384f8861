#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "takt/execution/objects.hpp"
#include "takt/links/link.hpp"
#include "takt/model/model.hpp"
#include "takt/synthesis/observations.hpp"

namespace takt::synthesis {

/// Subscriptions of a node that work together: the one that completes a set of messages computes
/// and publishes.
struct ObservedJoin {
  model::JoinKind kind = model::JoinKind::newest;
  std::vector<ObservedCallbackIndex> members;
  /// The cost of each completed set: that of the run that completed it and of those before it that
  /// only added a message.
  std::vector<Duration> execution_time{};
  /// The same without the most expensive set, where it is known.
  std::vector<Duration> without_largest{};
  /// Percent; none if the program or a model declares it.
  std::optional<std::int64_t> confidence{};
};

struct ObservedJoins {
  /// Those that are declared come first. A subscription may be in several.
  std::vector<ObservedJoin> joins;
  /// Declarations with which the trace disagrees, in words.
  std::vector<std::string> warnings;
};

/// The joins among `links`, and those that the model `declared` (may be null) declares. Every run
/// of its subscriptions agrees with a declared one.
[[nodiscard]] ObservedJoins find_joins(const Observations& observations,
                                       const execution::Objects& objects,
                                       std::span<const links::Link> links,
                                       const model::Model* declared);

}  // namespace takt::synthesis
