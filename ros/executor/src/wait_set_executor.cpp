#include "takt/executor/wait_set_executor.hpp"

#include <rcl/error_handling.h>
#include <tracetools/tracetools.h>

#include <algorithm>
#include <cassert>

#include "takt/base/try.hpp"
#include "takt/executor/decision_trace.hpp"
#include "takt/executor/rcl_result.hpp"
#include "takt/linux/thread_clock.hpp"
#include "takt/scheduling/description.hpp"

namespace takt::executor {

using scheduling::Category;
using scheduling::LocalIndex;

namespace {

constexpr std::int64_t forever = -1;

}  // namespace

Result<std::unique_ptr<WaitSetExecutor>> WaitSetExecutor::create(
    const std::shared_ptr<Context>& context, std::vector<WaitSetEntity*> entities,
    TimerHandling timers, const std::vector<WindowPlace>& places) {
  auto interrupt = TAKT_TRY(GuardCondition::create(context));
  std::unique_ptr<WaitSetExecutor> executor(
      new WaitSetExecutor(std::move(entities), std::move(interrupt)));
  executor->start_dispatch(timers, places);
  TAKT_TRY(executor->allocate_wait_set(*context));
  return executor;
}

WaitSetExecutor::WaitSetExecutor(std::vector<WaitSetEntity*> entities,
                                 std::unique_ptr<GuardCondition> interrupt)
    : entities_(std::move(entities)), interrupt_(std::move(interrupt)) {}

void WaitSetExecutor::start_dispatch(TimerHandling timers, const std::vector<WindowPlace>& places) {
  assert(places.empty() || places.size() == entities_.size());
  scheduling::PolicyDescription description{.rule = scheduling::Rule::ready_set, .timers = timers};
  for (std::size_t i = 0; i < entities_.size(); ++i) {
    description.callbacks.push_back({.category = entities_[i]->category(),
                                     .place = places.empty() ? WindowPlace{} : places[i]});
  }
  (void)dispatch_.replace(scheduling::make_policy(description, entities_.size()), entities_.size(),
                          description.own_origin);
  for (std::size_t i = 0; i < entities_.size(); ++i) {
    if (dispatch_.is_polled(LocalIndex(i))) continue;
    const auto* timer = dynamic_cast<const Timer*>(entities_[i]);
    assert(timer != nullptr && "only timers are ever privileged");
    privileged_.push_back({.timer = timer, .callback = LocalIndex(i)});
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
    Result<std::optional<scheduling::Job>> next = get_next_ready();
    if (next && !*next) {
      TAKT_TRY(wait_for_work());
      if (cancelled_) break;
      next = get_next_ready();
    }
    if (!next) return tl::unexpected(next.error());
    if (*next) {
      const scheduling::Job& job = **next;
      TAKT_TRY(entities_[job.callback.value()]->execute());
      dispatch_.completed(job);
    }
  }
  return {};
}

void WaitSetExecutor::cancel() {
  cancelled_ = true;
  interrupt_->trigger();
}

Result<std::optional<scheduling::Job>> WaitSetExecutor::get_next_ready() {
  TRACETOOLS_TRACEPOINT(rclcpp_executor_get_next_ready);
  for (const PrivilegedTimer& privileged : privileged_) {
    if (dispatch_.waiting(privileged.callback) > 0) continue;
    const bool due = TAKT_TRY(privileged.timer->is_due());
    if (due) release(privileged.callback, linux_os::monotonic_now());
  }
  scheduling::Job job;
  return dispatch_.next(job) ? std::optional(job) : std::nullopt;
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
    const LocalIndex callback(i);
    if (dispatch_.is_polled(callback) && entities_[i]->is_ready_in(wait_set_)) {
      release(callback, now);
    }
  }
  return {};
}

void WaitSetExecutor::release(LocalIndex callback, Instant now) {
  trace_release(entities_[callback.value()]->traced_callback(), now, now, dispatch_.completed());
  dispatch_.release(callback, now, now, callback.value());
}

}  // namespace takt::executor
