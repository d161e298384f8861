#pragma once

#include <memory>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/scheduling/policy.hpp"
#include "takt/simulation/options.hpp"

namespace takt::simulation {

/// A policy and what its executor must know of it.
struct ExecutorPolicy {
  std::unique_ptr<scheduling::Policy> policy;
  /// Deadlines count from an instance's own activation instead of its origin's.
  bool own_origin = false;
};

/// The very policy that the simulator gives an executor of the model, for a real executor to run:
/// of the kind `options.executor`, else the executor's own. Its callbacks are numbered in the order
/// of model::callbacks_by_executor().
[[nodiscard]] Result<ExecutorPolicy> executor_policy(const model::Model& model,
                                                     model::ExecutorIndex executor,
                                                     const Options& options);

}  // namespace takt::simulation
