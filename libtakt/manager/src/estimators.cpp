#include "estimators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace takt::manager {

std::string_view to_string(CheapMode mode) {
  switch (mode) {
    case CheapMode::asked:
      return "asked";
    case CheapMode::accepted:
      return "accepted";
    case CheapMode::refused:
      return "refused";
  }
  return {};
}

void decide_estimators(const Situation& situation, Decision& decision) {
  const bool overloaded = std::ranges::find(decision.chains, ChainState::degraded,
                                            &ChainDecision::state) != decision.chains.end();
  if (!overloaded) return;
  for (const Estimator& estimator : situation.estimators) {
    // A goal over several ways has a chain for each.
    const auto is_its = [&](const ChainDecision& chain) {
      return chain.id == estimator.chain || chain.id.starts_with(estimator.chain + " via ");
    };
    for (ChainDecision& chain : decision.chains | std::views::filter(is_its)) {
      if (chain.state == ChainState::guaranteed) {
        chain.estimator = {estimator.node, estimator.answer, estimator.reason};
      } else {
        chain.estimator = {
            estimator.node, CheapMode::refused,
            fmt::format("its chain is {}, so nothing bounds the way back", to_string(chain.state))};
      }
    }
  }
}

}  // namespace takt::manager
