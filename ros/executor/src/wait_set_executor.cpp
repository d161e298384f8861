#include "takt/executor/wait_set_executor.hpp"

#include <rcl/error_handling.h>
#include <tracetools/tracetools.h>

#include <algorithm>
#include <cassert>

#include "takt/executor/decision_trace.hpp"
#include "takt/executor/rcl_result.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::executor {

using scheduling::Admission;
using scheduling::CallbackIndex;
using scheduling::Category;

namespace {

constexpr std::int64_t forever = -1;

std::vector<Category> categories(const std::vector<WaitSetEntity*>& entities) {
  std::vector<Category> result;
  result.reserve(entities.size());
  for (const WaitSetEntity* entity : entities) result.push_back(entity->category());
  return result;
}

}  // namespace

Result<std::unique_ptr<WaitSetExecutor>> WaitSetExecutor::create(
    const std::shared_ptr<Context>& context, std::vector<WaitSetEntity*> entities,
    scheduling::TimerHandling timers) {
  auto interrupt = GuardCondition::create(context);
  if (!interrupt) return tl::unexpected(interrupt.error());
  std::unique_ptr<WaitSetExecutor> executor(
      new WaitSetExecutor(std::move(entities), timers, std::move(*interrupt)));
  if (const Result<void> result = executor->allocate_wait_set(*context); !result) {
    return tl::unexpected(result.error());
  }
  return executor;
}

WaitSetExecutor::WaitSetExecutor(std::vector<WaitSetEntity*> entities,
                                 scheduling::TimerHandling timers,
                                 std::unique_ptr<GuardCondition> interrupt)
    : entities_(std::move(entities)),
      policy_(categories(entities_), timers),
      interrupt_(std::move(interrupt)) {
  for (std::size_t i = 0; i < entities_.size(); ++i) {
    if (policy_.admission(CallbackIndex(i)) == Admission::at_once) {
      const auto* timer = dynamic_cast<const Timer*>(entities_[i]);
      assert(timer != nullptr && "only timers are ever privileged");
      privileged_.push_back({.timer = timer, .callback = CallbackIndex(i)});
    }
  }
}

WaitSetExecutor::~WaitSetExecutor() {
  if (rcl_wait_set_fini(&wait_set_) != RCL_RET_OK) rcl_reset_error();
}

Result<void> WaitSetExecutor::allocate_wait_set(Context& context) {
  const auto count = [&](Category category) {
    return static_cast<std::size_t>(
        std::ranges::count(entities_, category, &WaitSetEntity::category));
  };
  const std::size_t guard_conditions = count(Category::waitable) + 1;
  return check(
      rcl_wait_set_init(&wait_set_, count(Category::subscription), guard_conditions,
                        count(Category::timer), count(Category::client), count(Category::service),
                        0, context.handle(), rcl_get_default_allocator()),
      "make the wait set of an executor");
}

Result<void> WaitSetExecutor::spin() {
  Result<void> result = run_until_cancelled();
  cancelled_ = false;
  return result;
}

Result<void> WaitSetExecutor::run_until_cancelled() {
  while (!cancelled_) {
    Result<std::optional<CallbackIndex>> next = get_next_ready();
    if (next && !*next) {
      if (Result<void> waited = wait_for_work(); !waited) return waited;
      if (cancelled_) break;
      next = get_next_ready();
    }
    if (!next) return tl::unexpected(next.error());
    if (*next) {
      if (Result<void> executed = entities_[(*next)->value()]->execute(); !executed) {
        return executed;
      }
      ++completed_;
    }
  }
  return {};
}

void WaitSetExecutor::cancel() {
  cancelled_ = true;
  interrupt_->trigger();
}

Result<std::optional<CallbackIndex>> WaitSetExecutor::get_next_ready() {
  TRACETOOLS_TRACEPOINT(rclcpp_executor_get_next_ready);
  for (PrivilegedTimer& privileged : privileged_) {
    if (privileged.released) continue;
    const Result<bool> due = privileged.timer->is_due();
    if (!due) return tl::unexpected(due.error());
    if (*due) {
      release(privileged.callback, linux_os::monotonic_now());
      privileged.released = true;
    }
  }
  const std::optional<CallbackIndex> next = policy_.next();
  for (PrivilegedTimer& privileged : privileged_) {
    if (privileged.callback == next) privileged.released = false;
  }
  return next;
}

Result<void> WaitSetExecutor::wait_for_work() {
  TRACETOOLS_TRACEPOINT(rclcpp_executor_wait_for_work, forever);
  Result<void> result = check(rcl_wait_set_clear(&wait_set_), "empty a wait set");
  for (WaitSetEntity* entity : entities_) {
    if (result) result = entity->add_to(wait_set_);
  }
  if (result) result = interrupt_->add_to(wait_set_);
  if (!result) return result;
  if (const rcl_ret_t code = rcl_wait(&wait_set_, forever); code == RCL_RET_TIMEOUT) {
    rcl_reset_error();
    return {};
  } else if (code != RCL_RET_OK) {
    return check(code, "wait for work");
  }
  const Instant now = linux_os::monotonic_now();
  for (std::size_t i = 0; i < entities_.size(); ++i) {
    const CallbackIndex callback(i);
    if (policy_.admission(callback) == Admission::at_polling_point &&
        entities_[i]->is_ready_in(wait_set_)) {
      release(callback, now);
    }
  }
  return {};
}

void WaitSetExecutor::release(CallbackIndex callback, Instant now) {
  trace_release(*entities_[callback.value()], now, now, completed_);
  policy_.release(callback, now);
}

}  // namespace takt::executor
