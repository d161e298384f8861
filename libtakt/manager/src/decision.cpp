#include "takt/manager/decision.hpp"

#include <algorithm>

namespace takt::manager {

void Decision::withdraw(const std::string& chain, const std::string& reason) {
  const auto found = std::ranges::find(chains, chain, &ChainDecision::id);
  if (found == chains.end() || found->state != ChainState::guaranteed) return;
  found->state = ChainState::prepared;
  found->reason = reason;
  found->bound.reset();
}

}  // namespace takt::manager
