#include "dispatcher.hpp"

#include <algorithm>
#include <utility>

#include "takt/executor/decision_trace.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::executor {

using scheduling::Admission;
using scheduling::Queueing;

// --- What is run

Result<void> Dispatcher::keep_only(std::span<const ScheduledExecutable> executables) {
  for (Entry& entry : entries_) {
    if (entry.is_free() || entry.is_removed) continue;
    entry.is_removed = std::ranges::find(executables, entry.executable,
                                         &ScheduledExecutable::executable) == executables.end();
    if (!entry.is_removed) continue;
    if (Result<void> ended = entry.listening.end(); !ended) return ended;
  }
  return {};
}

Result<void> Dispatcher::adopt(std::span<const ScheduledExecutable> executables,
                               std::unique_ptr<scheduling::Policy> policy, std::size_t callbacks,
                               const CallbackGroups& groups, const Arrived& arrived) {
  const std::vector<Instance> waiting = take_waiting();
  set_policy(std::move(policy), callbacks, groups);
  for (Entry& entry : entries_) {
    if (entry.is_removed && entry.running == 0) entry = {};
  }
  for (const ScheduledExecutable& scheduled : executables) {
    if (Result<void> result = schedule(scheduled, arrived); !result) return result;
  }
  for (const Instance& instance : waiting) release(entries_[instance.entry].callback, instance);
  for (const Entry& entry : entries_) {
    for (std::size_t n = 0; n < entry.running && !entry.is_removed; ++n) {
      hold_excluded(entry.callback);
    }
  }
  return {};
}

/// The instances that wait for executables that stay, in the order of their release.
std::vector<Instance> Dispatcher::take_waiting() {
  std::vector<Instance> result;
  for (Callback& callback : callbacks_) {
    while (!callback.waiting.empty()) {
      Instance instance;
      callback.waiting.pop_front(instance);
      if (!entries_[instance.entry].is_removed) result.push_back(instance);
    }
  }
  std::ranges::sort(result, {}, &Instance::number);
  return result;
}

void Dispatcher::set_policy(std::unique_ptr<scheduling::Policy> policy, std::size_t callbacks,
                            const CallbackGroups& groups) {
  policy_ = std::move(policy);
  shared_policy_ =
      workers_ > 1 ? dynamic_cast<scheduling::SharablePolicy*>(policy_.get()) : nullptr;
  policy_goes_by_time_ = policy_->next_start().has_value();
  policy_polls_ = false;
  ++generation_;
  callbacks_.clear();
  callbacks_.resize(callbacks);
  for (std::size_t i = 0; i < callbacks; ++i) {
    const CallbackIndex index(i);
    callbacks_[i].is_polled = policy_->admission(index) == Admission::at_polling_point;
    policy_polls_ = policy_polls_ || callbacks_[i].is_polled;
    callbacks_[i].excludes = {index};
  }
  for (const CallbackIndex callback : groups.reentrant) {
    callbacks_[callback.value()].excludes.clear();
  }
  for (const std::vector<CallbackIndex>& group : groups.exclusive) {
    for (const CallbackIndex callback : group) callbacks_[callback.value()].excludes = group;
  }
}

/// Gives an executable an entry, unless it has one, and lets it report what comes.
Result<void> Dispatcher::schedule(const ScheduledExecutable& scheduled, const Arrived& arrived) {
  auto entry = std::ranges::find_if(entries_, [&](const Entry& known) {
    return known.executable == scheduled.executable && !known.is_removed;
  });
  if (entry != entries_.end()) {
    entry->callback = scheduled.callback;
    return {};
  }
  entry = std::ranges::find_if(entries_, &Entry::is_free);
  if (entry == entries_.end()) entry = entries_.insert(entry, Entry{});
  *entry = {.executable = scheduled.executable,
            .messages = dynamic_cast<MessageExecutable*>(scheduled.executable),
            .timer = dynamic_cast<TimerExecutable*>(scheduled.executable),
            .callback = scheduled.callback};
  MessageExecutable* const messages = entry->messages;
  if (messages == nullptr) return {};
  messages->set_workers(workers_);
  const auto index = static_cast<std::size_t>(entry - entries_.begin());
  auto listening = Listening::begin(
      messages->source(),
      [&] { return messages->notify([arrived, index](std::size_t n) { arrived(index, n); }); },
      [messages] { return messages->notify({}); });
  if (!listening) return tl::unexpected(listening.error());
  entry->listening = std::move(*listening);
  return {};
}

void Dispatcher::stop_listening() {
  for (Entry& entry : entries_) (void)entry.listening.end();
}

std::vector<TimerReleaser::Watched> Dispatcher::timers() const {
  std::vector<TimerReleaser::Watched> timers;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].timer == nullptr || entries_[i].is_removed) continue;
    timers.push_back({.timer = entries_[i].timer, .id = i});
  }
  return timers;
}

bool Dispatcher::removed_run(std::optional<std::size_t> but) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].is_removed && entries_[i].running > (i == but ? 1U : 0U)) return true;
  }
  return false;
}

// --- What waits

Result<void> Dispatcher::admit(const Arrival& arrival) {
  const Entry& entry = entries_[arrival.entry];
  if (entry.is_removed) return {};
  const Instance instance{
      .entry = arrival.entry, .activation = arrival.when, .origin = arrival.when, .number = 0};
  if (entry.timer == nullptr) return admit_messages(entry, arrival, instance);
  const bool waits = !callbacks_[entry.callback.value()].waiting.empty();
  if (!skips_missed_periods_ || !waits) release_new(entry, instance);
  return {};
}

Result<void> Dispatcher::admit_messages(const Entry& entry, const Arrival& arrival,
                                        Instance instance) {
  const Queueing queueing = policy_->queueing(entry.callback);
  for (std::size_t i = 0; i < arrival.count; ++i) {
    const auto admitted = entry.messages->admit(queueing);
    if (!admitted) return tl::unexpected(admitted.error());
    if (!admitted->activates) continue;
    instance.origin = admitted->origin.value_or(arrival.origin.value_or(arrival.when));
    release_new(entry, instance);
  }
  return {};
}

void Dispatcher::release_new(const Entry& entry, Instance instance) {
  instance.number = released_++;
  trace_release(*entry.executable, instance.activation,
                own_origin_ ? instance.activation : instance.origin, completed_);
  release(entry.callback, instance);
}

void Dispatcher::release(CallbackIndex index, const Instance& instance) {
  Callback& callback = callbacks_[index.value()];
  Instance waiting = instance;
  callback.waiting.push_back(waiting);
  if (callback.is_polled) return;
  policy_->release(index, instance.activation, own_origin_ ? instance.activation : instance.origin);
}

std::size_t Dispatcher::waiting() const {
  std::size_t waiting = 0;
  for (const Callback& callback : callbacks_) waiting += callback.waiting.size();
  return waiting;
}

// --- What runs next

void Dispatcher::give_job(Worker& worker) {
  const std::optional<CallbackIndex> next = next_callback();
  worker.has_job = next.has_value();
  if (!next) return;
  Job& job = worker.job;
  job.callback = *next;
  job.generation = generation_;
  Callback& callback = callbacks_[next->value()];
  callback.is_sampled = false;
  const Queueing queueing = policy_->queueing(*next);
  if (queueing == Queueing::oldest_first) {
    callback.waiting.pop_front(job.instance);
  } else {
    callback.waiting.pop_back(job.instance);
    Instance dropped;
    while (queueing == Queueing::newest_only && !callback.waiting.empty()) {
      callback.waiting.pop_front(dropped);
    }
  }
  Entry& entry = entries_[job.instance.entry];
  ++entry.running;
  job.messages = entry.messages;
  job.timer = entry.timer;
  if (job.messages != nullptr) job.messages->choose(queueing, worker.number);
  hold_excluded(*next);
}

std::optional<scheduling::CallbackIndex> Dispatcher::next_callback() {
  if (policy_goes_by_time_) policy_->advance(linux_os::monotonic_now());
  std::optional<CallbackIndex> next = policy_->next();
  if (!next && policy_polls_) {
    sample();
    next = policy_->next();
  }
  return next;
}

/// The polling point: one instance of each polled callback that has any. Those that must not run
/// now are not looked at.
void Dispatcher::sample() {
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    Callback& callback = callbacks_[i];
    if (!callback.is_polled || callback.is_sampled || callback.waiting.empty()) continue;
    if (callback.held > 0) continue;
    callback.is_sampled = true;
    const Instance& oldest = callback.waiting.front();
    policy_->release(CallbackIndex(i), oldest.activation, oldest.origin);
  }
}

bool Dispatcher::finish(Worker& worker) {
  worker.has_job = false;
  const Job& job = worker.job;
  Entry& entry = entries_[job.instance.entry];
  --entry.running;
  if (!entry.is_removed) resume_excluded(entry.callback);
  // A policy that came meanwhile knows nothing of it.
  if (job.generation == generation_) policy_->completed(job.callback);
  ++completed_;
  return entry.is_removed;
}

void Dispatcher::hold_excluded(CallbackIndex callback) {
  if (shared_policy_ == nullptr) return;
  for (const CallbackIndex excluded : callbacks_[callback.value()].excludes) {
    if (callbacks_[excluded.value()].held++ == 0) shared_policy_->hold(excluded);
  }
}

void Dispatcher::resume_excluded(CallbackIndex callback) {
  if (shared_policy_ == nullptr) return;
  for (const CallbackIndex excluded : callbacks_[callback.value()].excludes) {
    if (--callbacks_[excluded.value()].held == 0) shared_policy_->resume(excluded);
  }
}

}  // namespace takt::executor
