#include "takt/scheduling/dispatch.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace takt::scheduling {

Result<void> Dispatch::check(const Policy& policy) const {
  if (threads_ == 1 || policy.is_sharable()) return {};
  return error("this policy decides for one thread; {} threads cannot share it", threads_);
}

std::vector<Instance> Dispatch::replace(std::unique_ptr<Policy> policy, std::size_t callbacks,
                                        bool own_origin, const CallbackGroups& groups) {
  assert(check(*policy) && "threads must be able to share the policy");
  std::vector<Instance> waited;
  for (Callback& callback : callbacks_) {
    while (!callback.waiting.empty()) callback.waiting.pop_front(waited.emplace_back());
  }
  std::ranges::sort(waited, {}, &Instance::number);
  waiting_beside_ = 0;

  policy_ = std::move(policy);
  own_origin_ = own_origin;
  goes_by_time_ = policy_->next_start().has_value();
  ++generation_;
  callbacks_.clear();
  callbacks_.resize(callbacks);
  unsampled_.clear();
  unsampled_.reserve(callbacks);
  polls_ = false;
  for (std::size_t i = 0; i < callbacks; ++i) {
    const LocalIndex index(i);
    Callback& callback = callbacks_[i];
    callback.is_polled = policy_->admission(index) == Admission::at_polling_point;
    polls_ = polls_ || callback.is_polled;
    callback.queueing = policy_->queueing(index);
    if (callback.queueing == Queueing::newest_only) callback.depth = 1;
    callback.excludes = {index};
  }
  for (const LocalIndex callback : groups.reentrant) callbacks_[callback.value()].excludes.clear();
  for (const std::vector<LocalIndex>& group : groups.exclusive) {
    for (const LocalIndex callback : group) callbacks_[callback.value()].excludes = group;
  }
  return waited;
}

void Dispatch::wait_on(LocalIndex index, const Instance& instance) {
  Callback& callback = callbacks_[index.value()];
  if (callback.queueing == Queueing::newest_only && !callback.waiting.empty()) displace(index);
  admit(index, instance);
}

std::size_t Dispatch::displace(LocalIndex index) {
  Callback& callback = callbacks_[index.value()];
  Instance oldest;
  callback.waiting.pop_front(oldest);
  if (callback.held == 0) --waiting_beside_;
  // A polled callback keeps its place in the ready set: its then oldest instance takes it.
  if (!callback.is_polled) policy_->withdraw(index);
  return oldest.payload;
}

void Dispatch::list_unsampled(LocalIndex index) {
  Callback& callback = callbacks_[index.value()];
  if (callback.is_sampled || callback.is_listed) return;
  callback.is_listed = true;
  unsampled_.push_back(index);
}

/// Sets `chosen` to the callback that runs now; returns false if nothing may run.
bool Dispatch::reach_polling_point(LocalIndex& chosen) {
  ++polling_points_;
  if (unsampled_.empty()) return false;
  sample();
  return policy_->next(chosen);
}

/// The polling point: admits one instance of each polled callback that has any. It passes over
/// callbacks that must not run now.
void Dispatch::sample() {
  const auto admitted = std::ranges::remove_if(unsampled_, [&](LocalIndex index) {
    Callback& callback = callbacks_[index.value()];
    if (callback.held > 0) return false;
    callback.is_listed = false;
    callback.is_sampled = true;
    const Instance& oldest = callback.waiting.front();
    policy_->release(index, oldest.activation, deadline_origin(oldest));
    return true;
  });
  unsampled_.erase(admitted.begin(), admitted.end());
}

/// The instance of the callback that a polling point has admitted begins to run.
void Dispatch::leave_sample(LocalIndex index) {
  Callback& callback = callbacks_[index.value()];
  callback.is_sampled = false;
  if (!callback.waiting.empty()) list_unsampled(index);
}

std::size_t Dispatch::waiting() const {
  std::size_t waiting = 0;
  for (const Callback& callback : callbacks_) waiting += callback.waiting.size();
  return waiting;
}

void Dispatch::hold_excluded(LocalIndex callback) {
  for (const LocalIndex excluded : callbacks_[callback.value()].excludes) {
    Callback& held = callbacks_[excluded.value()];
    if (held.held++ > 0) continue;
    waiting_beside_ -= held.waiting.size();
    policy_->hold(excluded);
  }
}

void Dispatch::resume_excluded(LocalIndex callback) {
  for (const LocalIndex excluded : callbacks_[callback.value()].excludes) {
    Callback& resumed = callbacks_[excluded.value()];
    if (--resumed.held > 0) continue;
    waiting_beside_ += resumed.waiting.size();
    policy_->resume(excluded);
  }
}

}  // namespace takt::scheduling
