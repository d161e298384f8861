#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::model {

/// What orders the callbacks of executors with priorities or deadlines where their own fields do
/// not say it: it is inherited along the edges that trigger them.
struct Urgencies {
  explicit Urgencies(const Model& model);

  /// Of the activation; of a callback that messages activate, the shortest among its sources.
  /// Duration::max() if nothing activates it.
  std::vector<Duration> periods;
  /// The callback's own; else the highest among its predecessors; none if there is none.
  std::vector<std::optional<std::int64_t>> priorities;
  /// From the release of a source to the deadline of all that it triggers: the source's own
  /// deadline, else its period; the shortest among the sources.
  std::vector<Duration> deadlines;
};

}  // namespace takt::model
