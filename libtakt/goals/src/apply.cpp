#include "takt/goals/goals.hpp"
#include "takt/model/validate.hpp"

namespace takt::goals {

Result<void> apply(const Goals& goals, std::string_view source, model::Model& model) {
  std::vector<model::Chain> chains;
  for (std::size_t i = 0; i < goals.chains.size(); ++i) {
    const Goal& goal = goals.chains[i];
    auto callbacks = find_chain(model, goal);
    if (!callbacks) {
      return error("{}: chains[{}] (\"{}\"): {}", source, i, goal.name, callbacks.error().message);
    }
    chains.push_back(
        {goal.name, std::move(*callbacks), goal.latency, static_cast<std::int64_t>(i + 1), {}});
  }
  model.chains = std::move(chains);
  return model::validate(model, source);
}

}  // namespace takt::goals
