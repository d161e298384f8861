#pragma once

#include <memory>
#include <span>
#include <vector>

#include "network.hpp"
#include "takt/base/error.hpp"
#include "takt/scheduling/policy.hpp"
#include "takt/simulation/options.hpp"

namespace takt::simulation {

/// What orders callbacks whose own fields do not say it, by callback.
struct Urgencies {
  Urgencies(const model::Model& model, const Network& network);

  /// Of the activation; of a callback that messages activate, the shortest among its sources.
  std::vector<Duration> periods;
  /// The callback's own; else the highest among its predecessors; none if there is none.
  std::vector<std::optional<std::int64_t>> priorities;
  /// From the release of a source to the deadline of all that it triggers: the source's own
  /// deadline, else its period; the shortest among the sources.
  std::vector<Duration> deadlines;
};

/// A policy and what its executor must know of it.
struct ChosenPolicy {
  std::unique_ptr<scheduling::Policy> policy;
  /// Deadlines count from an instance's own activation.
  bool own_origin = false;
};

/// The policy of an executor of that kind; `callbacks`: those on the executor, in the order of the
/// default executor.
[[nodiscard]] Result<ChosenPolicy> make_policy(const model::Model& model, const Network& network,
                                               const Urgencies& urgencies, ExecutorIndex executor,
                                               model::ExecutorKind kind,
                                               std::span<const CallbackIndex> callbacks,
                                               const Options& options);

}  // namespace takt::simulation
