#include "takt/executor/events_executor.hpp"

#include <algorithm>
#include <cassert>
#include <thread>
#include <utility>

#include "takt/executor/origin.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::executor {

using scheduling::Queueing;

namespace {

/// Arrivals between two decisions for which there is memory from the start.
constexpr std::size_t arrivals_expected = 256;

}  // namespace

Result<std::unique_ptr<EventsExecutor>> EventsExecutor::create(
    std::span<const ScheduledExecutable> executables, std::unique_ptr<scheduling::Policy> policy,
    std::size_t callbacks, Options options) {
  std::unique_ptr<EventsExecutor> executor(
      new EventsExecutor(std::move(policy), callbacks, std::move(options)));
  if (executor->options_.threads > 1 && executor->shared_policy_ == nullptr) {
    return error("this policy decides for one thread; {} threads cannot share it",
                 executor->options_.threads);
  }
  if (const Result<void> watched = executor->watch(executables); !watched) {
    return tl::unexpected(watched.error());
  }
  return executor;
}

EventsExecutor::EventsExecutor(std::unique_ptr<scheduling::Policy> policy, std::size_t callbacks,
                               Options options)
    : policy_(std::move(policy)), options_(std::move(options)), callbacks_(callbacks) {
  if (options_.threads > 1) {
    shared_policy_ = dynamic_cast<scheduling::SharablePolicy*>(policy_.get());
  }
  for (std::size_t i = 0; i < callbacks; ++i) callbacks_[i].excludes.emplace_back(i);
  for (const std::vector<CallbackIndex>& group : options_.exclusive_groups) {
    for (const CallbackIndex callback : group) callbacks_[callback.value()].excludes = group;
  }
  arrivals_.reserve(arrivals_expected);
  batch_.reserve(arrivals_expected);
}

Result<void> EventsExecutor::watch(std::span<const ScheduledExecutable> executables) {
  std::vector<Timer*> timers;
  for (const ScheduledExecutable& scheduled : executables) {
    const std::size_t index = executables_.size();
    executables_.push_back(scheduled);
    if (auto* timer = dynamic_cast<Timer*>(scheduled.executable)) {
      timers.push_back(timer);
      timer_executables_.push_back(index);
    }
  }
  for (std::size_t i = 0; i < executables_.size(); ++i) {
    auto* messages = dynamic_cast<MessageExecutable*>(executables_[i].executable);
    if (messages == nullptr) continue;
    const Result<void> watched = messages->notify(
        [this, i](std::size_t count) { arrived(i, count, linux_os::monotonic_now()); });
    if (!watched) return watched;
  }
  if (!timers.empty()) {
    releaser_ = std::make_unique<TimerReleaser>(std::move(timers), options_.releaser,
                                                [this](std::size_t timer, Instant expiry) {
                                                  arrived(timer_executables_[timer], 1, expiry);
                                                });
  }
  return {};
}

EventsExecutor::~EventsExecutor() {
  releaser_.reset();
  for (const ScheduledExecutable& scheduled : executables_) {
    if (auto* messages = dynamic_cast<MessageExecutable*>(scheduled.executable)) {
      (void)messages->notify({});
    }
  }
}

Result<void> EventsExecutor::spin() {
  std::vector<Worker> workers(options_.threads);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers.size(); ++i) {
      threads.emplace_back([this, &worker = workers[i]] { work_or_throw(worker); });
    }
    work_or_throw(workers.front());
  }
  const std::lock_guard lock(arrival_);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (failure_ && releaser_) failure_ = releaser_->failure();
  return failure_;
}

void EventsExecutor::cancel() {
  const std::lock_guard lock(arrival_);
  cancelled_ = true;
  for (Worker* worker : std::exchange(idle_, {})) {
    worker->is_idle = false;
    worker->wake.notify_one();
  }
}

void EventsExecutor::arrived(std::size_t executable, std::size_t count, Instant when) {
  const std::optional<Instant> origin = current_origin();
  const std::lock_guard lock(arrival_);
  arrivals_.push_back({.executable = executable, .count = count, .when = when, .origin = origin});
  if (is_waking_ || idle_.empty()) return;
  is_waking_ = true;
  idle_.back()->is_idle = false;
  idle_.back()->wake.notify_one();
  idle_.pop_back();
}

void EventsExecutor::work_or_throw(Worker& worker) {
  try {
    work(worker);
  } catch (...) {
    {
      const std::lock_guard lock(arrival_);
      if (!thrown_) thrown_ = std::current_exception();
    }
    cancel();
  }
}

void EventsExecutor::work(Worker& worker) {
  std::unique_lock decision(decision_);
  while (true) {
    Result<std::optional<Job>> job = decide();
    if (!job) return fail(job.error());
    // A worker without a job is idle before another one can decide, so that it is not passed over.
    if (!*job && !become_idle(worker)) {
      if (is_cancelled()) return;
      continue;
    }
    decision.unlock();
    if (!*job) *job = sleep(worker);
    if (is_cancelled()) return;
    if (*job) {
      if (const Result<void> ran = run(**job); !ran) return fail(ran.error());
    }
    decision.lock();
    if (*job) finish(**job);
  }
}

Result<std::optional<EventsExecutor::Job>> EventsExecutor::decide() {
  if (const Result<void> taken = take_in_arrivals(); !taken) return tl::unexpected(taken.error());
  const std::optional<Job> job = next_job();
  // What this thread does not take may be for others.
  if (job && shared_policy_ != nullptr) {
    if (const Result<void> served = serve_idle_workers(); !served) {
      return tl::unexpected(served.error());
    }
  }
  return job;
}

Result<void> EventsExecutor::take_in_arrivals() {
  {
    const std::lock_guard lock(arrival_);
    std::swap(arrivals_, batch_);
    is_waking_ = false;
  }
  // Arrivals are noted a little after they came, by several threads.
  std::ranges::stable_sort(batch_, {}, &Arrival::when);
  for (const Arrival& arrival : batch_) {
    if (const Result<void> admitted = admit(arrival); !admitted) return admitted;
  }
  batch_.clear();
  return {};
}

Result<void> EventsExecutor::admit(const Arrival& arrival) {
  const ScheduledExecutable& scheduled = executables_[arrival.executable];
  auto* messages = dynamic_cast<MessageExecutable*>(scheduled.executable);
  if (messages == nullptr) {
    release(scheduled.callback, {.executable = arrival.executable, .origin = arrival.when},
            arrival.when);
    return {};
  }
  for (std::size_t i = 0; i < arrival.count; ++i) {
    const auto admitted = messages->admit();
    if (!admitted) return tl::unexpected(admitted.error());
    if (!admitted->activates) continue;
    const Instant origin = admitted->origin.value_or(arrival.origin.value_or(arrival.when));
    release(scheduled.callback, {.executable = arrival.executable, .origin = origin}, arrival.when);
  }
  return {};
}

void EventsExecutor::release(CallbackIndex callback, Instance instance, Instant activation) {
  policy_->release(callback, activation, options_.own_origin ? activation : instance.origin);
  callbacks_[callback.value()].waiting.push_back(instance);
}

std::optional<EventsExecutor::Job> EventsExecutor::next_job() {
  const std::optional<CallbackIndex> next = policy_->next();
  if (!next) return std::nullopt;
  Callback& callback = callbacks_[next->value()];
  Job job{.callback = *next, .instance = {}};
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
  if (auto* messages =
          dynamic_cast<MessageExecutable*>(executables_[job.instance.executable].executable)) {
    messages->choose(queueing);
  }
  if (shared_policy_ != nullptr) {
    for (const CallbackIndex excluded : callback.excludes) shared_policy_->hold(excluded);
  }
  return job;
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
    const std::optional<Job> job = next_job();
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

bool EventsExecutor::become_idle(Worker& worker) {
  const std::lock_guard lock(arrival_);
  if (!arrivals_.empty() || cancelled_) return false;
  worker.is_idle = true;
  idle_.push_back(&worker);
  return true;
}

std::optional<EventsExecutor::Job> EventsExecutor::sleep(Worker& worker) {
  std::unique_lock lock(arrival_);
  worker.wake.wait(lock, [&] { return !worker.is_idle; });
  return std::exchange(worker.job, std::nullopt);
}

bool EventsExecutor::is_cancelled() {
  const std::lock_guard lock(arrival_);
  return cancelled_;
}

Result<void> EventsExecutor::run(const Job& job) {
  const OriginScope origin(job.instance.origin);
  Executable* executable = executables_[job.instance.executable].executable;
  if (auto* messages = dynamic_cast<MessageExecutable*>(executable)) return messages->run_chosen();
  static_cast<Timer*>(executable)->run();
  return {};
}

void EventsExecutor::finish(const Job& job) {
  if (shared_policy_ != nullptr) {
    for (const CallbackIndex held : callbacks_[job.callback.value()].excludes) {
      shared_policy_->resume(held);
    }
  }
  // What the callback published is released before its completion counts.
  if (const Result<void> taken = take_in_arrivals(); !taken) fail(taken.error());
  policy_->completed(job.callback);
}

void EventsExecutor::fail(const Error& failure) {
  {
    const std::lock_guard lock(arrival_);
    if (failure_) failure_ = tl::unexpected(failure);
  }
  cancel();
}

}  // namespace takt::executor
