#include "estimators.hpp"

namespace takt::manager {

std::vector<Estimator> Estimators::of(const goals::Goals& goals) const {
  std::vector<Estimator> result;
  for (const goals::Goal& goal : goals.chains) {
    if (goal.estimator.empty()) continue;
    Estimator& estimator = result.emplace_back();
    estimator.chain = goal.name;
    estimator.node = goal.estimator;
    const auto known = asked_.find(goal.estimator);
    if (known == asked_.end()) continue;
    estimator.answer = known->second.answer;
    estimator.reason = known->second.reason;
  }
  return result;
}

std::vector<std::string> Estimators::due(const Decision& decision, Clock::time_point now,
                                         Clock::duration interval) {
  std::vector<std::string> nodes;
  for (const ChainDecision& chain : decision.chains) {
    if (!chain.estimator || chain.state != ChainState::guaranteed) continue;
    const auto [asked, is_first] = asked_.try_emplace(chain.estimator->node);
    if (!is_first && now - asked->second.when < interval) continue;
    asked->second.when = now;
    nodes.push_back(chain.estimator->node);
  }
  return nodes;
}

Result<bool> Estimators::answered(std::string_view answer) {
  const auto word = [&answer] {
    const std::string_view first = answer.substr(0, answer.find(' '));
    answer.remove_prefix(std::min(answer.size(), first.size() + 1));
    return first;
  };
  const auto asked = asked_.find(word());
  const std::string_view kind = word();
  if (asked == asked_.end() || (kind != "accepted" && kind != "refused")) {
    return error("estimator: no answer of a node that was asked");
  }
  const Asked said{asked->second.when,
                   kind == "accepted" ? CheapMode::accepted : CheapMode::refused,
                   std::string(answer)};
  const bool is_new = said.answer != asked->second.answer || said.reason != asked->second.reason;
  asked->second = said;
  return is_new;
}

}  // namespace takt::manager
