#include "timer_adapter.hpp"

#include <rcl/timer.h>
#include <tracetools/tracetools.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "takt/executor/origin.hpp"
#include "takt/executor/rcl_result.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::rclcpp {

namespace {

Duration period_of(::rclcpp::TimerBase& timer) {
  std::int64_t period = 0;
  const Result<void> known = executor::check(
      rcl_timer_get_period(timer.get_timer_handle().get(), &period), "ask for a timer's period");
  return known ? Duration(period) : Duration{0};
}

/// A timer's clock, which rclcpp keeps to itself.
struct ClockOfTimer : ::rclcpp::TimerBase {
  static std::shared_ptr<::rclcpp::Clock> get(::rclcpp::TimerBase& timer) {
    return timer.*&ClockOfTimer::clock_;
  }
};

}  // namespace

TimerAdapter::TimerAdapter(const std::shared_ptr<::rclcpp::TimerBase>& timer)
    : timer_(timer),
      source_(timer.get()),
      period_(period_of(*timer)),
      clock_(ClockOfTimer::get(*timer)) {}

bool TimerAdapter::is_simulated() const {
  return clock_->get_clock_type() == RCL_ROS_TIME && clock_->ros_time_is_active();
}

Result<std::optional<Duration>> TimerAdapter::time_until_expiry() const {
  const std::shared_ptr<::rclcpp::TimerBase> timer = timer_.lock();
  if (!timer || (is_continuous() && waits_)) return std::nullopt;
  try {
    const Duration left = timer->time_until_trigger();
    if (left == std::chrono::nanoseconds::max()) return std::nullopt;
    // Simulated time does not pass by itself: the clock tells of each step.
    if (left > Duration{0} && is_simulated()) return std::nullopt;
    return left;
  } catch (const std::exception& thrown) {
    return error("cannot ask for a timer's next expiry: {}", thrown.what());
  }
}

Result<std::optional<executor::TimerExecutable::Expiry>> TimerAdapter::expire() {
  const std::shared_ptr<::rclcpp::TimerBase> timer = timer_.lock();
  if (!timer) return std::nullopt;
  try {
    const std::uint64_t resets = expiries_.resets();
    if (!timer->is_ready()) return std::nullopt;  // it has just been reset
    const std::shared_ptr<void> called = timer->call();
    if (!called) return std::nullopt;
    const auto& info = *static_cast<const rcl_timer_call_info_t*>(called.get());
    const Duration late(info.actual_call_time - info.expected_call_time);
    if (late < Duration{0}) {  // in between: this was the expiry that it was reset for
      timer->reset();
      return std::nullopt;
    }
    Expiry expiry{.when = linux_os::monotonic_now() - late, .period = period_};
    if (is_continuous()) {
      waits_ = true;
    } else if (late > period_ && !is_simulated()) {
      // rcl skips the expiries that have passed as well. Simulated time may leap over any number.
      expiry.missed = static_cast<std::size_t>((late - epsilon) / period_);
    }
    expiries_.set(expiry.when, Duration(info.expected_call_time), period_, resets);
    return expiry;
  } catch (const std::exception& thrown) {
    return error("cannot call a timer: {}", thrown.what());
  }
}

Result<void> TimerAdapter::on_change(std::function<void()> changed) {
  const std::shared_ptr<::rclcpp::TimerBase> timer = timer_.lock();
  {
    const std::scoped_lock lock(mutex_);
    changed_ = changed;
  }
  if (!changed) {
    jumps_.reset();
    if (timer) timer->clear_on_reset_callback();
    return {};
  }
  if (!timer) return {};
  if (clock_->get_clock_type() == RCL_ROS_TIME) {
    constexpr rcl_jump_threshold_t any_step{
        .on_clock_change = true, .min_forward = {1}, .min_backward = {-1}};
    jumps_ = clock_->create_jump_callback(
        nullptr, [changed](const rcl_time_jump_t&) { changed(); }, any_step);
  }
  timer->set_on_reset_callback([this, changed](std::size_t) {
    expiries_.reset();
    changed();
  });
  return {};
}

Result<void> TimerAdapter::run(std::size_t /*worker*/) {
  if (is_continuous()) {
    waits_ = false;
    const std::scoped_lock lock(mutex_);
    if (changed_) changed_();
  }
  const std::shared_ptr<::rclcpp::TimerBase> timer = timer_.lock();
  const std::optional<Duration> due = expiries_.own(*executor::current_origin());
  if (!timer || !due || timer->is_canceled() || is_removed()) return {};
  TRACETOOLS_TRACEPOINT(rclcpp_executor_execute,
                        static_cast<const void*>(timer->get_timer_handle().get()));
  const auto info = std::make_shared<rcl_timer_call_info_t>();
  info->expected_call_time = due->count();
  info->actual_call_time = clock_->now().nanoseconds();
  timer->execute_callback(info);
  return {};
}

}  // namespace takt::rclcpp
