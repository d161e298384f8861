#include "takt/manager/newcomers.hpp"

#include <algorithm>
#include <cassert>

#include "takt/model/take_out.hpp"

namespace takt::manager {

namespace {

/// By index, the executors to which messages of callbacks of one lead, directly or not.
std::vector<bool> reached_from(const model::Model& model, model::ExecutorIndex executor) {
  std::vector<bool> is_reached(model.executors.size());
  is_reached[executor.value()] = true;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const model::Edge& edge : model.edges) {
      const std::size_t receiver = model[edge.to].executor.value();
      if (!is_reached[model[edge.from].executor.value()] || is_reached[receiver]) continue;
      is_reached[receiver] = goes_on = true;
    }
  }
  return is_reached;
}

}  // namespace

void settle_unknown(Situation& situation, const std::vector<Doubt>& unknown,
                    const std::set<std::string>& reserved) {
  model::Model& model = situation.model;
  std::vector<bool> is_newcomer(model.executors.size());
  for (const Doubt& doubt : unknown) {
    if (reserved.contains(doubt.executor)) {
      situation.unproved.push_back(doubt.executor);
      continue;
    }
    const auto found = std::ranges::find(model.executors, doubt.executor, &model::Executor::id);
    assert(found != model.executors.end());
    const model::ExecutorIndex executor(static_cast<std::size_t>(found - model.executors.begin()));
    const std::vector<bool> is_reached = reached_from(model, executor);
    bool leads_to_reserved = false;
    for (std::size_t e = 0; e < model.executors.size(); ++e) {
      const std::string& id = model.executors[e].id;
      if (!is_reached[e] || !reserved.contains(id)) continue;
      situation.unproved.push_back(id);
      leads_to_reserved = true;
    }
    if (!leads_to_reserved) {
      situation.doubts.push_back(doubt);
      continue;
    }
    is_newcomer[executor.value()] = true;
    for (const model::Chain& chain : model.chains) {
      const bool passes = std::ranges::any_of(
          chain.callbacks, [&](model::CallbackIndex c) { return model[c].executor == executor; });
      const bool is_said = std::ranges::find(situation.missing_goals, chain.id,
                                             &MissingGoal::name) != situation.missing_goals.end();
      if (passes && !is_said) situation.missing_goals.push_back({chain.id, doubt.reason});
    }
  }
  model::take_out(model, is_newcomer);
}

}  // namespace takt::manager
