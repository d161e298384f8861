#include "entities.hpp"

#include <nanobind/stl/vector.h>
#include <rcl/error_handling.h>
#include <rcl/guard_condition.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "takt/executor/origin.hpp"
#include "takt/executor/rcl_result.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::python {

using executor::check;

Result<executor::MessageExecutable::Admitted> MessageEntity::admit(
    scheduling::Queueing /*queueing*/) {
  // Where there is no room, the message takes the place of the oldest one and its instance.
  const bool has_room = waiting_.size() < depth_;
  if (!has_room) {
    if (waiting_.front() < reached_) displaced_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  waiting_.push_back(next_++);
  return Admitted{.activates = has_room};
}

void MessageEntity::choose(scheduling::Queueing queueing, std::size_t newer, std::size_t worker) {
  // No rule that keeps the newest message alone runs messages.
  const bool oldest_first = queueing != scheduling::Queueing::newest_first;
  Chosen& chosen = chosen_[worker];
  const auto number =
      oldest_first ? waiting_.begin() : waiting_.end() - 1 - static_cast<std::ptrdiff_t>(newer);
  chosen.number = *number;
  waiting_.erase(number);
  const auto came = static_cast<std::size_t>(next_);
  chosen.oldest = came > depth_ ? static_cast<std::int64_t>(came - depth_) : 0;
  chosen.displaced = std::exchange(displaced_, {});
  chosen.lost = chosen.oldest > reached_ || !chosen.displaced.empty();
  reached_ = std::max(reached_, chosen.number + 1);
}

Result<void> MessageEntity::run(std::size_t worker) {
  const Chosen& chosen = chosen_[worker];
  const std::shared_ptr<Looking> looking = looking_;
  std::optional<bool> found;
  try {
    found = chosen.lost ? callback_(chosen.number, chosen.oldest, chosen.displaced)
                        : callback_(chosen.number);
  } catch (...) {
    // It raised because of a message, behind which others may wait.
    if (looking) looking->go_on(true);
    throw;
  }
  if (looking && found) looking->go_on(*found);
  return {};
}

void MessageEntity::Looking::begin(Arrived look) {
  const std::scoped_lock lock(mutex_);
  look_ = std::move(look);
  if (goes_on_ && look_) look_(1);
}

void MessageEntity::Looking::go_on(bool found) {
  const std::scoped_lock lock(mutex_);
  if (!goes_on_) return;
  goes_on_ = found;
  if (found && look_) look_(1);
}

template <typename Handle>
Result<void> MessageEntity::report(rcl_ret_t (*set)(const Handle*, rcl_event_callback_t,
                                                    const void*),
                                   Handle* handle, Arrived arrived) {
  Result<void> result = check(set(handle, nullptr, nullptr), "watch an entity");
  arrived_ = std::move(arrived);
  if (looking_ && !arrived_) looking_->begin({});
  if (!result || !arrived_) return result;
  const auto forward = [](const void* function, std::size_t count) {
    (*static_cast<const Arrived*>(function))(count);
  };
  result = check(set(handle, forward, &arrived_), "watch an entity");
  if (looking_) looking_->begin(arrived_);
  return result;
}

namespace {

std::size_t depth_of(const rcl_subscription_t* handle) {
  const rmw_qos_profile_t* profile = rcl_subscription_get_actual_qos(handle);
  const bool keeps_last =
      profile != nullptr && profile->history == RMW_QOS_POLICY_HISTORY_KEEP_LAST;
  return keeps_last && profile->depth > 0 ? profile->depth
                                          : std::numeric_limits<std::size_t>::max();
}

}  // namespace

Subscription::Subscription(std::uintptr_t handle, nanobind::callable run, bool was_heard)
    : MessageEntity(Callback(std::move(run)),
                    depth_of(reinterpret_cast<rcl_subscription_t*>(handle)), was_heard),
      handle_(reinterpret_cast<rcl_subscription_t*>(handle)) {}

Result<void> Subscription::notify(Arrived arrived) {
  return report(rcl_subscription_set_on_new_message_callback, handle_, std::move(arrived));
}

Service::Service(std::uintptr_t handle, nanobind::callable run, bool was_heard)
    : MessageEntity(Callback(std::move(run)), unlimited, was_heard),
      handle_(reinterpret_cast<rcl_service_t*>(handle)) {}

Result<void> Service::notify(Arrived arrived) {
  return report(rcl_service_set_on_new_request_callback, handle_, std::move(arrived));
}

Client::Client(std::uintptr_t handle, nanobind::callable run, bool was_heard)
    : MessageEntity(Callback(std::move(run)), unlimited, was_heard),
      handle_(reinterpret_cast<rcl_client_t*>(handle)) {}

Result<void> Client::notify(Arrived arrived) {
  return report(rcl_client_set_on_new_response_callback, handle_, std::move(arrived));
}

Result<void> Trigger::notify(Arrived arrived) {
  const std::scoped_lock lock(mutex_);
  told_ = std::move(arrived);
  if (told_ && unseen_ > 0) told_(std::exchange(unseen_, 0));
  return {};
}

void Trigger::trigger() {
  const std::scoped_lock lock(mutex_);
  if (told_) {
    told_(1);
  } else {
    ++unseen_;
  }
}

Event::Event(std::uintptr_t handle, Trigger& told)
    : handle_(reinterpret_cast<rcl_event_t*>(handle)), tell_([&told] { told.trigger(); }) {
  begin();
}

Event::Event(std::uintptr_t handle, std::uintptr_t told)
    : handle_(reinterpret_cast<rcl_event_t*>(handle)),
      tell_([guard = reinterpret_cast<rcl_guard_condition_t*>(told)] {
        if (rcl_trigger_guard_condition(guard) != RCL_RET_OK) rcl_reset_error();
      }) {
  begin();
}

void Event::begin() {
  const auto occurred = [](const void* self, std::size_t) {
    // rcl passes on what it was given.
    auto& event = *static_cast<Event*>(const_cast<void*>(self));
    event.occurred_ = true;
    event.tell_();
  };
  const Result<void> begun =
      check(rcl_event_set_callback(handle_, occurred, this), "watch an event");
  if (!begun) throw std::runtime_error(begun.error().message);
}

Event::~Event() {
  if (rcl_event_set_callback(handle_, nullptr, nullptr) != RCL_RET_OK) rcl_reset_error();
}

Timer::Timer(std::uintptr_t handle, nanobind::callable run)
    : handle_(reinterpret_cast<rcl_timer_t*>(handle)), callback_(std::move(run)) {
  if (rcl_timer_clock(handle_, &clock_) != RCL_RET_OK) rcl_reset_error();
}

Result<std::optional<Duration>> Timer::time_until_expiry() const {
  if (waits_) return std::nullopt;
  std::int64_t left = 0;
  const rcl_ret_t code = rcl_timer_get_time_until_next_call(handle_, &left);
  if (code == RCL_RET_TIMER_CANCELED) {
    rcl_reset_error();
    return std::nullopt;
  }
  if (const Result<void> result = check(code, "ask for a timer's next expiry"); !result) {
    return tl::unexpected(result.error());
  }
  bool simulated = false;
  if (left > 0 && clock_ != nullptr && clock_->type == RCL_ROS_TIME &&
      rcl_is_enabled_ros_time_override(clock_, &simulated) == RCL_RET_OK && simulated) {
    // What passes on the machine's clock brings it no nearer; the clock's jumps are told.
    return std::nullopt;
  }
  return Duration(left);
}

Result<std::optional<executor::TimerExecutable::Expiry>> Timer::expire() {
  const std::uint64_t resets = expiries_.resets();
  bool is_due = false;
  Result<void> result = check(rcl_timer_is_ready(handle_, &is_due), "ask for a timer's expiry");
  if (!result) return tl::unexpected(result.error());
  if (!is_due) return std::nullopt;  // it has just been reset
  rcl_timer_call_info_t info{};
  const rcl_ret_t code = rcl_timer_call_with_info(handle_, &info);
  if (code == RCL_RET_TIMER_CANCELED) {
    rcl_reset_error();
    return std::nullopt;
  }
  std::int64_t period = 0;
  result = check(code, "call a timer");
  if (result) result = check(rcl_timer_get_period(handle_, &period), "ask for a timer's period");
  if (!result) return tl::unexpected(result.error());
  const Duration late(info.actual_call_time - info.expected_call_time);
  if (late < Duration{0}) {  // in between: this was the expiry that it was reset for
    result = check(rcl_timer_reset(handle_), "start a timer");
    if (!result) return tl::unexpected(result.error());
    return std::nullopt;
  }
  Expiry expiry{.when = linux_os::monotonic_now() - late, .period = Duration(period)};
  if (expiry.period < shortest_period) {
    waits_ = true;
  } else if (late > expiry.period && clock_->type == RCL_STEADY_TIME) {
    // A simulated clock may jump as it likes: nothing was missed on it.
    expiry.missed = static_cast<std::size_t>((late - epsilon) / expiry.period);
  }
  expiries_.set(expiry.when, Duration(info.expected_call_time), expiry.period, resets);
  return expiry;
}

Result<void> Timer::on_change(std::function<void()> changed) {
  Result<void> result =
      check(rcl_timer_set_on_reset_callback(handle_, nullptr, nullptr), "watch a timer");
  const bool begins = changed != nullptr;
  bool began = false;
  {
    const std::scoped_lock lock(mutex_);
    began = std::exchange(changed_, std::move(changed)) != nullptr;
  }
  if (result && began) result = watch_clock(false);
  if (!result || !begins) return result;
  const auto forward = [](const void* self, std::size_t) {
    // rcl passes on what it was given.
    auto& timer = *static_cast<Timer*>(const_cast<void*>(self));
    timer.expiries_.reset();
    timer.tell_of_change();
  };
  result = check(rcl_timer_set_on_reset_callback(handle_, forward, this), "watch a timer");
  return result ? watch_clock(true) : result;
}

void Timer::tell_of_change() {
  const std::scoped_lock lock(mutex_);
  if (changed_) changed_();
}

/// Jumps of a simulated clock may make the timer expire.
Result<void> Timer::watch_clock(bool watch) {
  if (clock_ == nullptr || clock_->type != RCL_ROS_TIME) return {};
  // A clock is not thread-safe in this, and rclpy's timers do the same with the lock held.
  const nanobind::gil_scoped_acquire acquired;
  const auto jumped = [](const rcl_time_jump_t*, bool before, void* self) {
    if (!before) static_cast<Timer*>(self)->tell_of_change();
  };
  if (!watch) {
    return check(rcl_clock_remove_jump_callback(clock_, jumped, this), "forget a clock");
  }
  rcl_jump_threshold_t any{};
  any.on_clock_change = true;
  any.min_forward.nanoseconds = 1;
  any.min_backward.nanoseconds = -1;
  return check(rcl_clock_add_jump_callback(clock_, any, jumped, this), "watch a clock");
}

Result<void> Timer::run(std::size_t /*worker*/) {
  if (waits_.exchange(false)) tell_of_change();
  const std::optional<Duration> due = expiries_.own(*executor::current_origin());
  if (due) callback_(due->count());
  return {};
}

}  // namespace takt::python
