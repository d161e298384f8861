#include "doubts.hpp"

#include <algorithm>

#include "takt/budget/influence.hpp"

namespace takt::manager {

namespace {

/// A doubt about something that the chain depends on; null: there is none.
const Doubt* doubt_about(const Situation& situation, const model::Chain& chain) {
  const auto executors = budget::influencing(situation.model, chain);
  for (const Doubt& doubt : situation.doubts) {
    const bool concerns =
        doubt.executor.empty() || std::ranges::any_of(executors, [&](model::ExecutorIndex e) {
          return situation.model[e].id == doubt.executor;
        });
    if (concerns) return &doubt;
  }
  return nullptr;
}

}  // namespace

std::vector<ChainDecision> set_doubtful_aside(const Situation& situation, const Labels& labels,
                                              model::Model& model) {
  std::vector<ChainDecision> unmanaged;
  for (model::Chain& chain : model.chains) {
    if (!chain.goal) continue;
    const Doubt* doubt = doubt_about(situation, chain);
    if (doubt == nullptr) continue;
    const std::string subject = doubt->executor.empty() ? "" : labels.at(doubt->executor) + ": ";
    unmanaged.push_back({.id = chain.id,
                         .reason = subject + doubt->reason,
                         .goal = chain.goal,
                         .kind = chain.kind});
    chain.goal.reset();
  }
  for (const MissingGoal& goal : situation.missing_goals) {
    unmanaged.push_back({.id = goal.name, .reason = goal.reason});
  }
  return unmanaged;
}

}  // namespace takt::manager
