#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/execution/objects.hpp"
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

/// The joins of a trace, all of which agree with every run of their subscriptions:
///
/// - those that the program declares (message-flow 1.5b) or the model `declared` (may be null);
/// - those inferred: the subscriptions that had a message whenever the node published on a topic,
///   and for which it waits. If it was seen n times to wait for each, the confidence is 100 n / (n
///   + 1). An input that was never late was never waited for. It is a part of the join all the same
///   if its runs only keep the message; the confidence is then 50.
[[nodiscard]] ObservedJoins find_joins(const Observations& observations,
                                       const execution::Objects& objects,
                                       const model::Model* declared);

}  // namespace takt::synthesis
