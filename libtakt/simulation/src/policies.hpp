#pragma once

#include <memory>
#include <span>
#include <vector>

#include "network.hpp"
#include "takt/base/error.hpp"
#include "takt/model/urgency.hpp"
#include "takt/scheduling/policy.hpp"
#include "takt/simulation/options.hpp"

namespace takt::simulation {

/// A policy and what its executor must know of it.
struct ChosenPolicy {
  std::unique_ptr<scheduling::Policy> policy;
  /// Deadlines count from an instance's own activation.
  bool own_origin = false;
};

/// The policy of an executor of that kind; `callbacks`: those on the executor, in the order of the
/// default executor.
[[nodiscard]] Result<ChosenPolicy> make_policy(const model::Model& model, const Network& network,
                                               const model::Urgencies& urgencies,
                                               ExecutorIndex executor, model::ExecutorKind kind,
                                               std::span<const CallbackIndex> callbacks,
                                               const Options& options);

}  // namespace takt::simulation
