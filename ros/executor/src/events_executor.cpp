#include "takt/executor/events_executor.hpp"

#include <algorithm>
#include <cassert>
#include <thread>
#include <utility>

#include "takt/executor/decision_trace.hpp"
#include "takt/executor/origin.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::executor {

using scheduling::Admission;
using scheduling::Queueing;

namespace {

/// Arrivals between two decisions for which there is memory from the start.
constexpr std::size_t arrivals_expected = 256;

/// What the calling thread runs.
struct Running {
  const EventsExecutor* executor = nullptr;
  std::size_t entry = 0;
};
thread_local Running running;

std::chrono::steady_clock::time_point on_steady_clock(Instant instant) {
  return std::chrono::steady_clock::time_point(instant.time_since_epoch());
}

template <typename T>
std::optional<T> earliest(std::optional<T> a, std::optional<T> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

Result<std::unique_ptr<EventsExecutor>> EventsExecutor::create(
    std::span<const ScheduledExecutable> executables, std::unique_ptr<scheduling::Policy> policy,
    std::size_t callbacks, Options options) {
  std::unique_ptr<EventsExecutor> executor(new EventsExecutor(std::move(options)));
  const Result<void> replaced =
      executor->replace(executables, std::move(policy), callbacks, executor->options_.groups);
  if (!replaced) return tl::unexpected(replaced.error());
  return executor;
}

EventsExecutor::EventsExecutor(Options options) : options_(std::move(options)) {
  assert(options_.threads > 0);
  for (std::size_t i = options_.threads; i > 0; --i) free_workers_.push_back(i - 1);
  idle_.reserve(options_.threads);
  arrivals_.reserve(arrivals_expected);
  batch_.reserve(arrivals_expected);
}

EventsExecutor::~EventsExecutor() {
  releaser_.reset();
  for (const Entry& entry : entries_) {
    if (entry.messages != nullptr && !entry.is_removed) (void)entry.messages->notify({});
  }
}

// --- What is run

Result<void> EventsExecutor::replace(std::span<const ScheduledExecutable> executables,
                                     std::unique_ptr<scheduling::Policy> policy,
                                     std::size_t callbacks, const CallbackGroups& groups) {
  if (options_.threads > 1 && dynamic_cast<scheduling::SharablePolicy*>(policy.get()) == nullptr) {
    return error("this policy decides for one thread; {} threads cannot share it",
                 options_.threads);
  }
  Lock decision(decision_);
  // What has come so far is admitted as it was wanted when it came.
  if (Result<void> unwatched = unwatch_all_but(executables); !unwatched) return unwatched;
  if (Result<void> taken = take_in_arrivals(); !taken) return taken;
  const std::vector<Instance> waiting = waiting_instances();
  adopt(std::move(policy), callbacks, groups);
  if (Result<void> watched = watch(executables); !watched) return watched;
  for (const Instance& instance : waiting) release(entries_[instance.entry].callback, instance);
  for (const Entry& entry : entries_) {
    for (std::size_t n = 0; n < entry.running && !entry.is_removed; ++n) {
      hold_excluded(entry.callback);
    }
  }
  if (Result<void> watched = watch_timers(); !watched) return watched;
  {
    const std::lock_guard lock(arrival_);
    wake_one_worker();
  }
  await_removed(decision);
  return {};
}

/// Ends the reports of all executables that are not among `executables`.
Result<void> EventsExecutor::unwatch_all_but(std::span<const ScheduledExecutable> executables) {
  for (Entry& entry : entries_) {
    if (entry.is_free() || entry.is_removed) continue;
    entry.is_removed = std::ranges::find(executables, entry.executable,
                                         &ScheduledExecutable::executable) == executables.end();
    if (!entry.is_removed || entry.messages == nullptr) continue;
    if (Result<void> unwatched = entry.messages->notify({}); !unwatched) return unwatched;
  }
  return watch_timers();
}

/// The instances that wait for executables that stay, in the order of their release.
std::vector<EventsExecutor::Instance> EventsExecutor::waiting_instances() {
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

void EventsExecutor::adopt(std::unique_ptr<scheduling::Policy> policy, std::size_t callbacks,
                           const CallbackGroups& groups) {
  policy_ = std::move(policy);
  shared_policy_ =
      options_.threads > 1 ? dynamic_cast<scheduling::SharablePolicy*>(policy_.get()) : nullptr;
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

/// Gives each executable an entry, and lets new ones report what comes.
Result<void> EventsExecutor::watch(std::span<const ScheduledExecutable> executables) {
  for (Entry& entry : entries_) {
    if (entry.is_removed && entry.running == 0) entry = {};
  }
  for (const ScheduledExecutable& scheduled : executables) {
    auto entry = std::ranges::find_if(entries_, [&](const Entry& known) {
      return known.executable == scheduled.executable && !known.is_removed;
    });
    if (entry != entries_.end()) {
      entry->callback = scheduled.callback;
      continue;
    }
    entry = std::ranges::find_if(entries_, &Entry::is_free);
    if (entry == entries_.end()) entry = entries_.insert(entry, Entry{});
    *entry = {.executable = scheduled.executable,
              .messages = dynamic_cast<MessageExecutable*>(scheduled.executable),
              .timer = dynamic_cast<TimerExecutable*>(scheduled.executable),
              .callback = scheduled.callback};
    if (entry->messages == nullptr) continue;
    entry->messages->set_workers(options_.threads);
    const auto index = static_cast<std::size_t>(entry - entries_.begin());
    Result<void> watched = entry->messages->notify(
        [this, index](std::size_t count) { arrived(index, count, linux_os::monotonic_now()); });
    if (!watched) return watched;
  }
  return {};
}

Result<void> EventsExecutor::watch_timers() {
  std::vector<TimerReleaser::Watched> timers;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].timer == nullptr || entries_[i].is_removed) continue;
    timers.push_back({.timer = entries_[i].timer, .id = i});
  }
  if (!releaser_) {
    if (timers.empty()) return {};
    releaser_ = std::make_unique<TimerReleaser>(
        options_.releaser,
        [this](std::size_t entry, Instant expiry) { arrived(entry, 1, expiry); });
  }
  return releaser_->watch(std::move(timers));
}

/// Waits until no removed executable runs any more, but for one that this thread runs.
void EventsExecutor::await_removed(Lock& decision) {
  removed_ended_.wait(decision, [this] {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!entries_[i].is_removed) continue;
      const bool is_this = running.executor == this && running.entry == i;
      if (entries_[i].running > (is_this ? 1U : 0U)) return false;
    }
    return true;
  });
}

// --- What comes

void EventsExecutor::arrived(std::size_t entry, std::size_t count, Instant when) {
  const std::optional<Instant> origin = current_origin();
  const std::lock_guard lock(arrival_);
  arrivals_.push_back({.entry = entry, .count = count, .when = when, .origin = origin});
  wake_one_worker();
}

/// With the arrival lock held.
void EventsExecutor::wake_one_worker() {
  if (is_waking_ || idle_.empty()) return;
  is_waking_ = true;
  idle_.back()->is_idle = false;
  idle_.back()->wake.notify_one();
  idle_.pop_back();
}

Result<void> EventsExecutor::take_in_arrivals() {
  {
    const std::lock_guard lock(arrival_);
    std::swap(arrivals_, batch_);
    is_waking_ = false;
  }
  // Arrivals are noted a little after they came, by several threads.
  const auto by_time = [](const Arrival& a, const Arrival& b) { return a.when < b.when; };
  if (!std::ranges::is_sorted(batch_, by_time)) std::ranges::stable_sort(batch_, by_time);
  Result<void> result;
  for (const Arrival& arrival : batch_) {
    if (result) result = admit(arrival);
  }
  batch_.clear();
  return result;
}

Result<void> EventsExecutor::admit(const Arrival& arrival) {
  const Entry& entry = entries_[arrival.entry];
  if (entry.is_removed) return {};
  Instance instance{
      .entry = arrival.entry, .activation = arrival.when, .origin = arrival.when, .number = 0};
  if (entry.timer != nullptr) {
    const bool waits = !callbacks_[entry.callback.value()].waiting.empty();
    if (options_.skips_missed_periods && waits) return {};
    release_new(entry, instance);
    return {};
  }
  for (std::size_t i = 0; i < arrival.count; ++i) {
    const auto admitted = entry.messages->admit();
    if (!admitted) return tl::unexpected(admitted.error());
    if (!admitted->activates) continue;
    instance.origin = admitted->origin.value_or(arrival.origin.value_or(arrival.when));
    release_new(entry, instance);
  }
  return {};
}

void EventsExecutor::release_new(const Entry& entry, Instance instance) {
  instance.number = released_++;
  trace_release(*entry.executable, instance.activation,
                options_.own_origin ? instance.activation : instance.origin, completed_);
  release(entry.callback, instance);
}

void EventsExecutor::release(CallbackIndex index, const Instance& instance) {
  Callback& callback = callbacks_[index.value()];
  Instance waiting = instance;
  callback.waiting.push_back(waiting);
  if (callback.is_polled) return;
  policy_->release(index, instance.activation,
                   options_.own_origin ? instance.activation : instance.origin);
}

// --- What runs next

Result<std::optional<EventsExecutor::Job>> EventsExecutor::decide(Worker& worker) {
  if (const Result<void> taken = take_in_arrivals(); !taken) return tl::unexpected(taken.error());
  const std::optional<Job> job = next_job(worker);
  // What this thread does not take may be for others.
  if (job && shared_policy_ != nullptr) {
    if (const Result<void> served = serve_idle_workers(); !served) {
      return tl::unexpected(served.error());
    }
  }
  return job;
}

std::optional<EventsExecutor::Job> EventsExecutor::next_job(const Worker& worker) {
  const std::optional<CallbackIndex> next = next_callback();
  if (!next) return std::nullopt;
  Callback& callback = callbacks_[next->value()];
  callback.is_sampled = false;
  Job job{.instance = {}, .callback = *next, .worker = worker.number, .generation = generation_};
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
  return job;
}

std::optional<scheduling::CallbackIndex> EventsExecutor::next_callback() {
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
void EventsExecutor::sample() {
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    Callback& callback = callbacks_[i];
    if (!callback.is_polled || callback.is_sampled || callback.waiting.empty()) continue;
    if (callback.held > 0) continue;
    callback.is_sampled = true;
    const Instance& oldest = callback.waiting.front();
    policy_->release(CallbackIndex(i), oldest.activation, oldest.origin);
  }
}

void EventsExecutor::hold_excluded(CallbackIndex callback) {
  if (shared_policy_ == nullptr) return;
  for (const CallbackIndex excluded : callbacks_[callback.value()].excludes) {
    if (callbacks_[excluded.value()].held++ == 0) shared_policy_->hold(excluded);
  }
}

void EventsExecutor::resume_excluded(CallbackIndex callback) {
  if (shared_policy_ == nullptr) return;
  for (const CallbackIndex excluded : callbacks_[callback.value()].excludes) {
    if (--callbacks_[excluded.value()].held == 0) shared_policy_->resume(excluded);
  }
}

Result<void> EventsExecutor::serve_idle_workers() {
  while (true) {
    Worker* worker = nullptr;
    {
      const std::lock_guard lock(arrival_);
      if (idle_.empty()) return {};
      worker = idle_.back();
      idle_.pop_back();
    }
    const std::optional<Job> job = next_job(*worker);
    const std::lock_guard lock(arrival_);
    if (job) {
      worker->job = job;
      worker->is_idle = false;
      worker->wake.notify_one();
      continue;
    }
    if (arrivals_.empty() && !cancelled_) {
      idle_.push_back(worker);
    } else {
      is_waking_ = true;
      worker->is_idle = false;
      worker->wake.notify_one();
    }
    return {};
  }
}

// --- Threads

Result<void> EventsExecutor::spin() {
  std::vector<Worker> workers(options_.threads);
  {
    const std::lock_guard decision(decision_);
    if (free_workers_.size() < workers.size()) {
      return error("the executor spins already: end the other spinning first");
    }
    free_workers_.clear();
  }
  for (std::size_t i = 0; i < workers.size(); ++i) workers[i].number = i;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers.size(); ++i) {
      threads.emplace_back([this, &worker = workers[i]] { spin_worker(worker); });
    }
    spin_worker(workers.front());
  }
  {
    const std::lock_guard decision(decision_);
    for (std::size_t i = workers.size(); i > 0; --i) free_workers_.push_back(i - 1);
  }
  return take_failure();
}

Result<bool> EventsExecutor::spin_once(std::optional<Duration> timeout) {
  std::optional<TimePoint> deadline;
  if (timeout) deadline = std::chrono::steady_clock::now() + *timeout;
  Lock decision(decision_);
  if (free_workers_.empty()) {
    return error("more threads spin the executor than it has: {}", options_.threads);
  }
  Worker worker{.number = free_workers_.back()};
  free_workers_.pop_back();
  const Result<std::optional<Job>> job = await_job(worker, decision, deadline);
  if (!job) fail(job.error());
  if (job && *job) {
    decision.unlock();
    if (const Result<void> ran = run(**job); !ran) fail(ran.error());
    decision.lock();
  }
  free_workers_.push_back(worker.number);
  decision.unlock();
  if (Result<void> failure = take_failure(); !failure) return tl::unexpected(failure.error());
  return job->has_value();
}

Result<std::size_t> EventsExecutor::catch_up() {
  const std::lock_guard decision(decision_);
  if (releaser_) {
    if (const auto released = releaser_->release_due(); !released) {
      return tl::unexpected(released.error());
    }
  }
  if (const Result<void> taken = take_in_arrivals(); !taken) return tl::unexpected(taken.error());
  std::size_t waiting = 0;
  for (const Callback& callback : callbacks_) waiting += callback.waiting.size();
  return waiting;
}

void EventsExecutor::cancel() {
  const std::lock_guard lock(arrival_);
  cancelled_ = true;
  for (Worker* worker : idle_) {
    worker->is_idle = false;
    worker->wake.notify_one();
  }
  idle_.clear();
}

void EventsExecutor::spin_worker(Worker& worker) {
  if (const Result<void> applied = apply(options_.thread); !applied) return fail(applied.error());
  if (options_.thread_started) options_.thread_started(worker.number);
  work(worker);
}

void EventsExecutor::work(Worker& worker) {
  Lock decision(decision_);
  while (true) {
    const Result<std::optional<Job>> job = await_job(worker, decision, std::nullopt);
    if (!job) return fail(job.error());
    if (!*job) return;
    decision.unlock();
    const Result<void> ran = run(**job);
    decision.lock();
    if (!ran) return fail(ran.error());
    if (is_cancelled()) return;
  }
}

/// The next job for the worker; none: the executor is cancelled, or nothing came until `deadline`.
Result<std::optional<EventsExecutor::Job>> EventsExecutor::await_job(
    Worker& worker, Lock& decision, std::optional<TimePoint> deadline) {
  while (!is_cancelled()) {
    Result<std::optional<Job>> job = decide(worker);
    if (!job || *job) return job;
    if (deadline && std::chrono::steady_clock::now() >= *deadline) return job;
    // A worker without a job is idle before another one can decide, so that it is not passed over.
    if (!become_idle(worker)) continue;
    std::optional<TimePoint> until = deadline;
    if (policy_goes_by_time_) {
      until = earliest(until, std::optional(on_steady_clock(*policy_->next_start())));
    }
    decision.unlock();
    std::optional<Job> given = sleep(worker, until);
    decision.lock();
    if (given) return given;
  }
  return std::nullopt;
}

bool EventsExecutor::become_idle(Worker& worker) {
  const std::lock_guard lock(arrival_);
  if (!arrivals_.empty() || cancelled_) return false;
  worker.is_idle = true;
  idle_.push_back(&worker);
  return true;
}

std::optional<EventsExecutor::Job> EventsExecutor::sleep(Worker& worker,
                                                         std::optional<TimePoint> until) {
  std::unique_lock lock(arrival_);
  const auto woken = [&] { return !worker.is_idle; };
  if (!until) {
    worker.wake.wait(lock, woken);
  } else if (!worker.wake.wait_until(lock, *until, woken)) {
    // Nobody has found it among the idle ones, unless it is being given a job at this moment.
    if (std::erase(idle_, &worker) == 0) worker.wake.wait(lock, woken);
    worker.is_idle = false;
  }
  return std::exchange(worker.job, std::nullopt);
}

bool EventsExecutor::is_cancelled() {
  const std::lock_guard lock(arrival_);
  return cancelled_;
}

Result<void> EventsExecutor::run(const Job& job) {
  Result<void> ran;
  const Running before = std::exchange(running, {this, job.instance.entry});
  try {
    const OriginScope origin(job.instance.origin);
    ran = job.timer != nullptr ? job.timer->run(job.worker) : job.messages->run(job.worker);
  } catch (...) {
    {
      const std::lock_guard lock(arrival_);
      if (!thrown_) thrown_ = std::current_exception();
    }
    cancel();
  }
  running = before;
  const std::lock_guard decision(decision_);
  finish(job);
  return ran;
}

void EventsExecutor::finish(const Job& job) {
  Entry& entry = entries_[job.instance.entry];
  --entry.running;
  if (entry.is_removed) {
    removed_ended_.notify_all();
  } else {
    resume_excluded(entry.callback);
  }
  // What the callback published is released before its completion counts.
  if (const Result<void> taken = take_in_arrivals(); !taken) fail(taken.error());
  // A policy that came meanwhile knows nothing of it.
  if (job.generation == generation_) policy_->completed(job.callback);
  ++completed_;
}

void EventsExecutor::fail(const Error& failure) {
  {
    const std::lock_guard lock(arrival_);
    if (failure_) failure_ = tl::unexpected(failure);
  }
  cancel();
}

/// Why spinning ended, if not because it was to; the next spinning begins anew.
Result<void> EventsExecutor::take_failure() {
  std::exception_ptr thrown;
  Result<void> failure;
  {
    const std::lock_guard lock(arrival_);
    thrown = std::exchange(thrown_, nullptr);
    failure = std::exchange(failure_, Result<void>{});
    cancelled_ = false;
  }
  if (thrown) std::rethrow_exception(thrown);
  if (failure && releaser_) failure = releaser_->failure();
  return failure;
}

}  // namespace takt::executor
