#include "draft.hpp"

namespace takt::policy {

Result<void> describe_events(Draft& draft) {
  draft.description.policy.rule = scheduling::Rule::first_released;
  return {};
}

Result<void> describe_event_source(Draft& draft) { return describe_events(draft); }

}  // namespace takt::policy
