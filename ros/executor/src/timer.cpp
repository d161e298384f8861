#include "takt/executor/timer.hpp"

#include <rcl/error_handling.h>

#include "takt/base/try.hpp"
#include "takt/executor/origin.hpp"
#include "takt/executor/rcl_result.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::executor {

Result<std::unique_ptr<Timer>> Timer::create(std::shared_ptr<Node> node, Duration period,
                                             std::string name, Callback callback) {
  std::unique_ptr<Timer> timer(new Timer(std::move(node), std::move(name), std::move(callback)));
  timer->period_ = period;
  Context& context = timer->node_->context();
  TAKT_TRY(check(rcl_timer_init2(&timer->timer_, context.clock(), context.handle(), period.count(),
                                 nullptr, rcl_get_default_allocator(), /*autostart=*/false),
                 fmt::format("make a timer of {} ns", period.count())));
  TRACETOOLS_TRACEPOINT(rclcpp_timer_callback_added, &timer->timer_, timer->callback_.address());
  timer->callback_.announce();
  TRACETOOLS_TRACEPOINT(rclcpp_timer_link_node, &timer->timer_, timer->node_->handle());
  return timer;
}

Timer::~Timer() {
  if (rcl_timer_fini(&timer_) != RCL_RET_OK) rcl_reset_error();
}

Result<void> Timer::start() { return check(rcl_timer_reset(&timer_), "start a timer"); }

Result<void> Timer::start_on_grid() {
  const Duration now = linux_os::monotonic_now().time_since_epoch();
  const Duration first = period_ - now % period_;
  // A timer goes on by its period from when it was due. It is reset with a first period of its own.
  std::int64_t former = 0;
  Result<void> started = check(rcl_timer_exchange_period(&timer_, first.count(), &former),
                               "set a timer's first period");
  if (started) started = start();
  if (!started) return started;
  return check(rcl_timer_exchange_period(&timer_, period_.count(), &former),
               "set a timer's period");
}

Result<void> Timer::stop() { return check(rcl_timer_cancel(&timer_), "stop a timer"); }

Result<bool> Timer::is_due() const {
  bool due = false;
  TAKT_TRY(check(rcl_timer_is_ready(&timer_, &due), "ask for a timer's expiry"));
  return due;
}

Result<void> Timer::add_to(rcl_wait_set_t& wait_set) {
  return check(rcl_wait_set_add_timer(&wait_set, &timer_, &wait_set_index_), "wait for a timer");
}

bool Timer::is_ready_in(const rcl_wait_set_t& wait_set) const {
  return wait_set.timers[wait_set_index_] != nullptr;
}

Result<std::optional<Duration>> Timer::time_until_expiry() const {
  std::int64_t left = 0;
  if (const rcl_ret_t code = rcl_timer_get_time_until_next_call(&timer_, &left);
      code == RCL_RET_TIMER_CANCELED) {
    rcl_reset_error();
    return std::nullopt;
  } else if (const Result<void> result = check(code, "ask for a timer's next expiry"); !result) {
    return tl::unexpected(result.error());
  }
  return Duration(left);
}

Result<std::optional<TimerExecutable::Expiry>> Timer::expire() {
  rcl_timer_call_info_t info{};
  if (const rcl_ret_t code = rcl_timer_call_with_info(&timer_, &info);
      code == RCL_RET_TIMER_CANCELED) {
    rcl_reset_error();
    return std::nullopt;
  } else if (const Result<void> result = check(code, "call a timer"); !result) {
    return tl::unexpected(result.error());
  }
  // rcl's clock may not be CLOCK_MONOTONIC; how late the call is holds for both.
  const Duration late(info.actual_call_time - info.expected_call_time);
  Expiry expiry{.when = linux_os::monotonic_now() - late, .period = period_};
  // rcl skips the expiries that have passed as well.
  if (late > period_) {
    expiry.missed = static_cast<std::size_t>((late - epsilon) / period_);
  }
  return expiry;
}

Result<void> Timer::run(std::size_t /*worker*/) {
  TRACETOOLS_TRACEPOINT(rclcpp_executor_execute, &timer_);
  callback_();
  return {};
}

Result<void> Timer::on_change(std::function<void()> changed) {
  Result<void> result =
      check(rcl_timer_set_on_reset_callback(&timer_, nullptr, nullptr), "watch a timer");
  changed_ = std::move(changed);
  if (!result || !changed_) return result;
  const auto forward = [](const void* self, std::size_t) {
    static_cast<const Timer*>(self)->changed_();
  };
  return check(rcl_timer_set_on_reset_callback(&timer_, forward, this), "watch a timer");
}

Result<void> Timer::execute() {
  const std::optional<Expiry> expiry = TAKT_TRY(expire());
  if (!expiry) return {};
  const OriginScope origin(expiry->when);
  return run(0);
}

}  // namespace takt::executor
