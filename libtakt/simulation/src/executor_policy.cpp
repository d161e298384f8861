#include "takt/simulation/executor_policy.hpp"

#include "network.hpp"
#include "policies.hpp"
#include "takt/model/order.hpp"

namespace takt::simulation {

Result<ExecutorPolicy> executor_policy(const model::Model& model, ExecutorIndex executor,
                                       const Options& options) {
  const Network network(model);
  Result<ChosenPolicy> chosen =
      make_policy(model, network, model::Urgencies(model), executor,
                  options.executor.value_or(model[executor].kind),
                  model::callbacks_by_executor(model)[executor.value()], options);
  if (!chosen) return tl::unexpected(chosen.error());
  return ExecutorPolicy{.policy = std::move(chosen->policy), .own_origin = chosen->own_origin};
}

}  // namespace takt::simulation
