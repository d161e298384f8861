#include <algorithm>
#include <limits>

#include "draft.hpp"
#include "takt/scheduling/events.hpp"

namespace takt::policy {

/// Chains by rank, chains without one last, each reduced to its callbacks on the executor
/// (edf-executor 1.2).
Result<void> describe_chain_priority(Draft& draft) {
  std::vector<const model::Chain*> order;
  for (const model::Chain& chain : draft.model.chains) order.push_back(&chain);
  std::ranges::stable_sort(order, {}, [](const model::Chain* chain) {
    return chain->rank.value_or(std::numeric_limits<std::int64_t>::max());
  });
  std::vector<std::vector<LocalIndex>> chains;
  for (const model::Chain* chain : order) {
    std::vector<LocalIndex>& here = chains.emplace_back();
    for (const CallbackIndex callback : chain->callbacks) {
      if (draft.is_here(callback)) here.push_back(draft.local(callback));
    }
  }
  draft.description.policy.rule = scheduling::Rule::priority;
  draft.order_by(scheduling::chain_priorities(chains, draft.description.callbacks.size()));
  return {};
}

}  // namespace takt::policy
