#include "draft.hpp"

namespace takt::policy {

Result<void> describe_fixed_priority(Draft& draft) {
  draft.description.policy.rule = scheduling::Rule::priority;
  draft.order_by_priority();
  return {};
}

}  // namespace takt::policy
