#include "takt/executor/context.hpp"

#include <rcl/error_handling.h>
#include <rcl/init.h>
#include <rcl/init_options.h>

#include "takt/executor/rcl_result.hpp"

namespace takt::executor {

Result<std::shared_ptr<Context>> Context::create() {
  std::shared_ptr<Context> context(new Context());
  rcl_allocator_t allocator = rcl_get_default_allocator();
  rcl_init_options_t options = rcl_get_zero_initialized_init_options();
  Result<void> result =
      check(rcl_init_options_init(&options, allocator), "prepare the start of ROS 2");
  if (result) {
    result = check(rcl_init(0, nullptr, &options, &context->context_), "start ROS 2");
    if (rcl_init_options_fini(&options) != RCL_RET_OK) rcl_reset_error();
  }
  if (result) {
    result = check(rcl_clock_init(RCL_STEADY_TIME, &context->clock_, &allocator),
                   "make the clock of the timers");
  }
  if (!result) return tl::unexpected(result.error());
  return context;
}

Context::~Context() {
  // Nothing sensible can be done about a failing end; it must only not be reported elsewhere.
  if (rcl_clock_valid(&clock_) && rcl_clock_fini(&clock_) != RCL_RET_OK) rcl_reset_error();
  if (rcl_context_is_valid(&context_) && rcl_shutdown(&context_) != RCL_RET_OK) rcl_reset_error();
  if (rcl_context_fini(&context_) != RCL_RET_OK) rcl_reset_error();
}

}  // namespace takt::executor
