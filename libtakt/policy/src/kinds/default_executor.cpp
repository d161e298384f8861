#include "draft.hpp"

namespace takt::policy {

Result<void> describe_single_threaded(Draft& draft) {
  scheduling::PolicyDescription& policy = draft.description.policy;
  policy.rule = scheduling::Rule::ready_set;
  policy.timers = draft.executor.timers;
  return {};
}

Result<void> describe_multi_threaded(Draft& draft) { return describe_single_threaded(draft); }

}  // namespace takt::policy
