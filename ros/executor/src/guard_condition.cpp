#include "takt/executor/guard_condition.hpp"

#include <rcl/error_handling.h>

#include "takt/base/try.hpp"
#include "takt/executor/rcl_result.hpp"

namespace takt::executor {

Result<std::unique_ptr<GuardCondition>> GuardCondition::create(std::shared_ptr<Context> context) {
  std::unique_ptr<GuardCondition> condition(new GuardCondition(std::move(context)));
  TAKT_TRY(
      check(rcl_guard_condition_init(&condition->guard_condition_, condition->context_->handle(),
                                     rcl_guard_condition_get_default_options()),
            "make a guard condition"));
  return condition;
}

GuardCondition::~GuardCondition() {
  if (rcl_guard_condition_fini(&guard_condition_) != RCL_RET_OK) rcl_reset_error();
}

void GuardCondition::trigger() {
  // Fails only for an invalid handle, which create() excludes.
  if (rcl_trigger_guard_condition(&guard_condition_) != RCL_RET_OK) rcl_reset_error();
}

Result<void> GuardCondition::add_to(rcl_wait_set_t& wait_set) {
  return check(rcl_wait_set_add_guard_condition(&wait_set, &guard_condition_, nullptr),
               "wait for a guard condition");
}

}  // namespace takt::executor
