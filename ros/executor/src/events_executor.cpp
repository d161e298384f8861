#include "takt/executor/events_executor.hpp"

#include <fmt/format.h>
#include <rcutils/logging_macros.h>

#include <algorithm>
#include <cassert>
#include <system_error>
#include <thread>
#include <utility>

#include "arrivals.hpp"
#include "dispatcher.hpp"
#include "takt/base/try.hpp"
#include "takt/executor/origin.hpp"
#include "takt/executor/timer_releaser.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::executor {

namespace {

/// As long as it lives, the calling thread is that worker, and what it publishes has the origin of
/// the job that it runs.
class Working {
 public:
  Working(const EventsExecutor& executor, const Worker& worker)
      : executor_(executor),
        worker_(worker),
        before_(std::exchange(innermost_, this)),
        origin_(worker.job.chosen.instance.origin) {}
  ~Working() { innermost_ = before_; }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

  /// The entries of that executor that the calling thread runs jobs of, one within the other: an
  /// entry for each of its jobs.
  static std::vector<std::size_t> entries(const EventsExecutor& executor) {
    std::vector<std::size_t> entries;
    for (const Working* at = busy(executor, innermost_); at != nullptr;
         at = busy(executor, at->before_)) {
      entries.push_back(at->worker_.job.entry());
    }
    return entries;
  }

  /// The number of that worker, if it runs a job.
  static std::optional<std::size_t> busy_number(const EventsExecutor& executor) {
    const Working* const working = busy(executor, innermost_);
    if (working == nullptr) return std::nullopt;
    return working->worker_.number;
  }

 private:
  /// The innermost worker of that executor with a job, from `at` outwards; null: there is none.
  static const Working* busy(const EventsExecutor& executor, const Working* at) {
    while (at != nullptr && (&at->executor_ != &executor || !at->worker_.has_job)) {
      at = at->before_;
    }
    return at;
  }

  static inline thread_local const Working* innermost_ = nullptr;

  const EventsExecutor& executor_;
  const Worker& worker_;
  const Working* before_;
  OriginScope origin_;
};

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
  if (executor->options_.releaser) {
    TAKT_TRY(executor->start_releaser());
  }
  TAKT_TRY(executor->replace(executables, std::move(policy), callbacks, executor->options_.groups));
  return executor;
}

EventsExecutor::EventsExecutor(Options options)
    : options_(std::move(options)),
      arrivals_(std::make_unique<Arrivals>(options_.threads)),
      dispatcher_(std::make_unique<Dispatcher>(*arrivals_, options_.threads, options_.own_origin,
                                               options_.missed)) {
  assert(options_.threads > 0);
  if (!options_.releaser && options_.thread.scheduling) {
    options_.releaser = before(*options_.thread.scheduling);
  }
  for (std::size_t i = options_.threads; i > 0; --i) free_workers_.push_back(i - 1);
}

EventsExecutor::~EventsExecutor() {
  releaser_.reset();
  dispatcher_->stop_listening();
}

// --- What is run

Result<void> EventsExecutor::replace(std::span<const ScheduledExecutable> executables,
                                     std::unique_ptr<scheduling::Policy> policy,
                                     std::size_t callbacks, const CallbackGroups& groups) {
  TAKT_TRY(dispatcher_->check(*policy));
  raise_middleware();
  Lock decision(decision_);
  // What has come so far is admitted as it was wanted when it came.
  TAKT_TRY(dispatcher_->keep_only(executables));
  TAKT_TRY(watch_timers());
  take_in_arrivals();
  TAKT_TRY(dispatcher_->adopt(executables, std::move(policy), callbacks, groups));
  TAKT_TRY(watch_timers());
  arrivals_->wake_one();
  await_removed(decision);
  return {};
}

Result<void> EventsExecutor::start_releaser() {
  auto started = TimerReleaser::start(
      options_.releaser,
      [this](std::size_t entry, Instant expiry) { arrivals_->note(entry, 1, expiry); },
      [this] { arrivals_->cancel(); });
  if (!started) return tl::unexpected(started.error());
  releaser_ = std::move(*started);
  return {};
}

Result<void> EventsExecutor::watch_timers() {
  std::vector<TimerReleaser::Watched> timers = dispatcher_->timers();
  if (!releaser_) {
    if (timers.empty()) return {};
    TAKT_TRY(start_releaser());
  }
  return releaser_->watch(std::move(timers));
}

/// What delivers messages must not wait for callbacks. Threads of the middleware come with
/// entities.
void EventsExecutor::raise_middleware() {
  if (!options_.thread.scheduling) return;
  const Result<void> raised = deliver_before(*options_.thread.scheduling);
  if (raised || has_warned_.exchange(true)) return;
  RCUTILS_LOG_WARN_NAMED("takt", "messages wait for callbacks to end: %s",
                         raised.error().message.c_str());
}

/// Waits until no removed executable runs any more, but for the one that this thread runs.
void EventsExecutor::await_removed(Lock& decision) {
  const std::vector<std::size_t> own = Working::entries(*this);
  if (options_.nests && !own.empty()) return;
  removed_ended_.wait(decision, [&] { return !dispatcher_->removed_run(own); });
}

bool EventsExecutor::removed_run() {
  const Lock decision(decision_);
  return dispatcher_->removed_run({});
}

// --- Decisions

void EventsExecutor::take_in_unseen() {
  const Result<void> admitted = dispatcher_->admit(arrivals_->take());
  if (!admitted) fail(admitted.error());
}

inline void EventsExecutor::take_in_arrivals() {
  if (arrivals_->has_unseen()) take_in_unseen();
}

/// Gives the worker a job; false: the executor is cancelled, or nothing may run now.
inline bool EventsExecutor::find_job(Worker& worker) {
  if (arrivals_->is_cancelled()) return false;
  take_in_arrivals();
  dispatcher_->give_job(worker);
  if (worker.has_job && dispatcher_->has_work_for_others()) serve_idle_workers();
  return worker.has_job;
}

/// What one worker does not take may be for others.
void EventsExecutor::serve_idle_workers() {
  bool served = true;
  while (served && dispatcher_->has_work_for_others()) {
    Worker* const worker = arrivals_->take_idle();
    if (worker == nullptr) return;
    dispatcher_->give_job(*worker);
    served = worker->has_job;
    arrivals_->hand_back(*worker);
  }
}

/// False: the executor is cancelled or was interrupted `since`, or nothing came until `deadline`.
/// Where the worker has a job, the lock may have been given away.
inline bool EventsExecutor::await_job(Worker& worker, Lock& decision,
                                      std::optional<TimePoint> deadline,
                                      std::optional<std::uint64_t> since) {
  while (!find_job(worker)) {
    if (arrivals_->is_cancelled()) return false;
    if (since && arrivals_->interruptions() != *since) return false;
    if (deadline && std::chrono::steady_clock::now() >= *deadline) return false;
    sleep(worker, decision, deadline, since);
    if (worker.has_job) return true;
  }
  return true;
}

/// The worker, to which find_job() gave nothing, sleeps until it must look again or has a job. If
/// it has one, the lock has been given away.
void EventsExecutor::sleep(Worker& worker, Lock& decision, std::optional<TimePoint> deadline,
                           std::optional<std::uint64_t> since) {
  // Nobody need look again at what another job keeps from running, before that has ended.
  for (const Arrival& arrival : arrivals_->taken()) {
    if (dispatcher_->is_held(arrival)) arrivals_->ignore(arrival.entry);
  }
  // A worker without a job is idle before another one can decide, so that it is not passed over.
  if (!arrivals_->become_idle(worker, since)) return;
  std::optional<TimePoint> start;
  if (const auto next = dispatcher_->next_start()) start = on_steady_clock(*next);
  const std::optional<TimePoint> until = earliest(deadline, start);
  decision.unlock();
  arrivals_->sleep(worker, until, until == start);
  // Who gave it a job has done so before the signal.
  if (!worker.has_job) decision.lock();
}

/// Runs the worker's job, without the lock while the callback runs. What the callback threw.
[[gnu::always_inline]] inline std::exception_ptr EventsExecutor::complete_job(Worker& worker,
                                                                              Lock& decision) {
  std::exception_ptr thrown;
  if (decision.owns_lock()) decision.unlock();
  try {
    if (const Result<void> ran = worker.run_job(); !ran) {
      const Lock failing(decision_);
      fail(ran.error());
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  decision.lock();
  // What the callback published is released before its completion counts.
  take_in_arrivals();
  if (dispatcher_->finish(worker)) removed_ended_.notify_all();
  arrivals_->heed();
  return thrown;
}

/// What the callback throws ends all spinning.
[[gnu::always_inline]] inline void EventsExecutor::run_job(Worker& worker, Lock& decision) {
  std::exception_ptr thrown = complete_job(worker, decision);
  if (!thrown) return;
  if (!thrown_) thrown_ = std::move(thrown);
  cancel();
}

// --- Threads

Result<void> EventsExecutor::spin() {
  raise_middleware();
  std::vector<Worker> workers(options_.threads);
  {
    const std::scoped_lock decision(decision_);
    if (free_workers_.size() < workers.size()) {
      return error("the executor spins already: end the other spinning first");
    }
    free_workers_.clear();
  }
  for (std::size_t i = 0; i < workers.size(); ++i) workers[i].number = i;
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < workers.size(); ++i) {
        threads.emplace_back([this, &worker = workers[i]] { spin_worker(worker); });
      }
    } catch (const std::system_error& refused) {
      // Those that have started must not go on.
      const Lock failing(decision_);
      fail({fmt::format("cannot start {} threads: {}", workers.size(), refused.what())});
    }
    // A single thread that runs callbacks is mostly the only one that decides.
    const linux_os::OwnedMutex::Ownership ownership(threads.empty() ? &decision_ : nullptr);
    spin_worker(workers.front());
  }
  {
    const std::scoped_lock decision(decision_);
    for (std::size_t i = workers.size(); i > 0; --i) free_workers_.push_back(i - 1);
  }
  return take_failure();
}

void EventsExecutor::spin_worker(Worker& worker) {
  const Result<void> applied = apply(options_.thread);
  if (applied && options_.thread_started) options_.thread_started(worker.number);
  const Working working(*this, worker);
  Lock decision(decision_);
  if (!applied) return fail(applied.error());
  while (await_job(worker, decision, std::nullopt, std::nullopt)) run_job(worker, decision);
}

Result<bool> EventsExecutor::spin_once(std::optional<Duration> timeout,
                                       std::optional<std::uint64_t> since) {
  std::optional<TimePoint> deadline;
  // The longest timeouts end after all that a clock can tell.
  const TimePoint now = std::chrono::steady_clock::now();
  if (timeout && *timeout < TimePoint::max() - now) deadline = now + *timeout;
  if (const auto busy = options_.nests ? Working::busy_number(*this) : std::nullopt) {
    return spin_nested(*busy, deadline, since);
  }
  Lock decision(decision_);
  if (free_workers_.empty()) {
    return error("more threads spin the executor than it has: {}", options_.threads);
  }
  Worker worker{.number = free_workers_.back()};
  const Working working(*this, worker);
  free_workers_.pop_back();
  const bool came = await_job(worker, decision, deadline, since);
  if (came) run_job(worker, decision);
  // Others may sleep although there is something that its job kept from running.
  if (arrivals_->has_unseen() || dispatcher_->has_work_for_others()) arrivals_->wake_one();
  free_workers_.push_back(worker.number);
  decision.unlock();
  TAKT_TRY(take_failure());
  return came;
}

/// Within a callback that the worker of that number runs. The outer spinning notices by itself that
/// it is to end, and hears of no exception that comes out here.
Result<bool> EventsExecutor::spin_nested(std::size_t number, std::optional<TimePoint> deadline,
                                         std::optional<std::uint64_t> since) {
  Worker worker{.number = number};
  const Working working(*this, worker);
  Lock decision(decision_);
  const bool came = await_job(worker, decision, deadline, since);
  std::exception_ptr thrown;
  if (came) thrown = complete_job(worker, decision);
  if (arrivals_->has_unseen() || dispatcher_->has_work_for_others()) arrivals_->wake_one();
  decision.unlock();
  if (thrown) std::rethrow_exception(thrown);
  return came;
}

bool EventsExecutor::is_running_here() const { return Working::busy_number(*this).has_value(); }

Result<std::size_t> EventsExecutor::catch_up() {
  Lock decision(decision_);
  if (releaser_) {
    TAKT_TRY(releaser_->release_due());
  }
  take_in_arrivals();
  if (!failure_) {
    arrivals_->resume();
    return tl::unexpected(std::exchange(failure_, Result<void>{}).error());
  }
  return dispatcher_->waiting();
}

void EventsExecutor::interrupt() { arrivals_->interrupt(); }

std::uint64_t EventsExecutor::interruptions() const { return arrivals_->interruptions(); }

void EventsExecutor::cancel() { arrivals_->cancel(); }

void EventsExecutor::fail(const Error& failure) {
  if (failure_) failure_ = tl::unexpected(failure);
  cancel();
}

/// Why spinning ended, if not because it was to; the next spinning begins anew.
Result<void> EventsExecutor::take_failure() {
  const std::scoped_lock decision(decision_);
  arrivals_->resume();
  Result<void> failure = std::exchange(failure_, Result<void>{});
  if (const std::exception_ptr thrown = std::exchange(thrown_, nullptr)) {
    std::rethrow_exception(thrown);
  }
  if (failure && releaser_) failure = releaser_->failure();
  return failure;
}

}  // namespace takt::executor
