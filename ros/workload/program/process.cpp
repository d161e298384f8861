#include "process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "entities.hpp"
#include "gated_thread.hpp"
#include "takt/base/try.hpp"
#include "takt/executor/events_executor.hpp"
#include "takt/executor/wait_set_executor.hpp"
#include "takt/linux/memory.hpp"
#include "takt/linux/middleware_threads.hpp"
#include "takt/model/names.hpp"
#include "takt/policy/describe.hpp"
#include "takt/workload/periodic_releases.hpp"

namespace takt::workload {
namespace {

/// Waiting instances for which a policy has memory from the start.
constexpr std::size_t capacity = 1024;

/// How far the priority of threads that deliver messages is above that of the executors, which must
/// not keep them waiting (performance-engineering 3.4).
constexpr int middleware_above = 10;
constexpr int highest_priority = 99;

/// Puts the middleware's chores below the executors, where they run in turns (SCHED_RR).
void lower_chores(int priority) {
  const linux_os::RoundRobinScheduling below{.priority = std::max(priority - 1, 1)};
  for (const auto& thread : linux_os::middleware_chores(getpid())) {
    (void)linux_os::set_scheduling(thread.thread, below);
  }
}

/// Schedules the calling thread and all that it starts at a priority, as far as it may, until the
/// end of the scope.
class [[nodiscard]] Raised {
 public:
  explicit Raised(std::optional<int> priority) {
    if (!priority) return;
    if (auto former = linux_os::get_scheduling(0)) former_ = *former;
    const int wanted = std::min(*priority, highest_priority);
    (void)linux_os::set_scheduling(0, linux_os::FifoScheduling{.priority = wanted});
  }
  ~Raised() {
    if (former_) (void)linux_os::set_scheduling(0, *former_);
  }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;

 private:
  std::optional<linux_os::ThreadScheduling> former_;
};

/// None: the thread stays as the process was started.
std::optional<linux_os::ThreadScheduling> scheduling_for(const model::Supply& supply,
                                                         std::optional<int> priority) {
  if (const auto* reservation = std::get_if<model::ReservationSupply>(&supply)) {
    return linux_os::DeadlineScheduling{.runtime = reservation->budget,
                                        .deadline = reservation->deadline,
                                        .period = reservation->period};
  }
  if (const auto* fixed = std::get_if<model::FixedPrioritySupply>(&supply)) {
    return linux_os::FifoScheduling{.priority = static_cast<int>(fixed->priority)};
  }
  if (priority) return linux_os::FifoScheduling{.priority = *priority};
  return std::nullopt;
}

ThreadSetup thread_setup(const model::Executor& executor, std::optional<int> priority) {
  ThreadSetup setup{.settings = {.scheduling = scheduling_for(executor.supply, priority)},
                    .announcement = executor::Announcement{
                        .id = executor.id,
                        .kind = std::string(to_string(executor.kind)),
                        .timers = std::string(model::to_string(executor.timers)),
                        .threads = executor.threads}};
  // The kernel gives reservations only to threads that may run on all processors of the machine.
  if (executor.cpu && !std::holds_alternative<model::ReservationSupply>(executor.supply)) {
    setup.settings.processors = {static_cast<int>(*executor.cpu)};
  }
  return setup;
}

}  // namespace

class Process::Implementation {
 public:
  Implementation(const model::Model& model, const WorkloadPlan& plan, MessageLog* log,
                 std::optional<int> priority)
      : model_(model), priority_(priority), entities_(model, plan, log) {}

  ~Implementation() { quit(); }

  Result<void> create(const WorkloadProcess& process) {
    const Raised while_threads_start(priority_ ? std::optional(*priority_ + middleware_above)
                                               : std::nullopt);
    TAKT_TRY(entities_.init());
    for (const WorkloadExecutor& planned : process.executors) {
      const bool source = has(model_[planned.executor].kind, model::ExecutorTrait::outside_ros);
      TAKT_TRY(source ? make_event_source(planned) : make_executor(planned));
    }
    executor::announce_all_links(entities_.links());
    // Entities that activate others from outside come last: they are no part of the model.
    for (const WorkloadExecutor& planned : process.executors) {
      for (const WorkloadCallback& callback : planned.callbacks) {
        auto activity = TAKT_TRY(entities_.make_outside(callback));
        if (activity)
          add_periodic(ThreadSetup{.settings = {}, .announcement = {}, .is_outside = true},
                       std::move(*activity));
      }
    }
    return {};
  }

  [[nodiscard]] Result<bool> is_connected() const { return entities_.is_connected(); }

  Result<std::vector<Supply>> start() {
    if (std::exchange(started_, true)) return error("start: has begun already");
    std::vector<Supply> supplies;
    for (const Thread& thread : threads_) {
      const Result<void> set_up = thread.gated->set_up();
      if (!thread.executor.empty()) {
        supplies.push_back(
            {.executor = thread.executor,
             .refusal = set_up ? releaser_refusals_[thread.executor] : set_up.error().message});
      }
    }
    TAKT_TRY(entities_.start_timers());
    // If the kernel does not allow it, page faults remain.
    if (priority_) (void)linux_os::keep_memory();
    if (priority_) lower_chores(*priority_);
    for (const Thread& thread : threads_) thread.gated->go();
    return supplies;
  }

  Result<void> stop() {
    for (const auto& releases : releases_) releases->stop();
    return entities_.stop_timers();
  }

  void quit() {
    for (const auto& releases : releases_) releases->stop();
    for (const auto& executor : executors_) executor->cancel();
    // Their threads end with them.
    threads_.clear();
  }

  [[nodiscard]] Result<void> failure() const { return entities_.first_error(); }

  [[nodiscard]] std::vector<Count> counts() const {
    std::vector<Count> result;
    for (const auto& [callback, work] : entities_.works()) {
      result.push_back({.callback = model_[callback].id, .work = work->counts()});
    }
    return result;
  }

  [[nodiscard]] bool scale(std::string_view callback, int percent) {
    for (const auto& [index, work] : entities_.works()) {
      if (model_[index].id != callback) continue;
      work->scale(percent);
      return true;
    }
    return false;
  }

 private:
  struct Thread {
    /// The model's id; empty for threads that are no part of the model.
    std::string executor;
    std::unique_ptr<GatedThread> gated;
  };

  Result<void> make_executor(const WorkloadExecutor& planned) {
    const model::Executor& executor = model_[planned.executor];
    auto executables = TAKT_TRY(entities_.make(planned));
    auto made = TAKT_TRY(has(executor.kind, model::ExecutorTrait::wait_set)
                             ? make_wait_set_executor(planned, executables)
                             : make_events_executor(planned, executables));
    executors_.push_back(std::move(made));
    threads_.push_back(
        {.executor = executor.id,
         .gated = std::make_unique<GatedThread>(
             thread_setup(executor, priority_),
             [this, spinning = executors_.back().get()] { entities_.note(spinning->spin()); })});
    return {};
  }

  Result<std::unique_ptr<executor::Executor>> make_wait_set_executor(
      const WorkloadExecutor& planned,
      const std::vector<executor::ScheduledExecutable>& scheduled) {
    const auto described =
        TAKT_TRY(policy::describe(model_, planned.executor, model_[planned.executor].kind));
    std::vector<executor::WaitSetEntity*> entities;
    std::vector<WindowPlace> places;
    for (const auto& [executable, callback] : scheduled) {
      entities.push_back(dynamic_cast<executor::WaitSetEntity*>(executable));
      places.push_back(described.policy.callbacks[callback.value()].place);
    }
    auto made = TAKT_TRY(executor::WaitSetExecutor::create(entities_.context(), std::move(entities),
                                                           described.policy.timers, places));
    return made;
  }

  Result<std::unique_ptr<executor::Executor>> make_events_executor(
      const WorkloadExecutor& planned,
      const std::vector<executor::ScheduledExecutable>& executables) {
    const model::Executor& executor = model_[planned.executor];
    const auto described = TAKT_TRY(policy::describe(model_, planned.executor, executor.kind));
    executor::EventsExecutor::Options options{.own_origin = described.policy.own_origin};
    if (has(executor.kind, model::ExecutorTrait::several_threads)) {
      options.threads = static_cast<std::size_t>(described.threads);
      options.groups = described.groups;
      options.missed = executor::MissedExpiries::skip;
      // The first thread is set up before it spins.
      options.thread_started = [setup = thread_setup(executor, priority_)](std::size_t number) {
        if (number > 0) (void)apply(setup);
      };
    }
    // Its threads are set up before they spin.
    if (const auto scheduling = scheduling_for(executor.supply, priority_)) {
      const linux_os::ThreadScheduling releaser = executor::before(*scheduling);
      if (const Result<void> granted = linux_os::check_scheduling(releaser)) {
        options.releaser = releaser;
      } else {
        releaser_refusals_[executor.id] =
            fmt::format("the thread that releases its timers: {}", granted.error().message);
      }
    }
    auto made = TAKT_TRY(executor::EventsExecutor::create(
        executables, scheduling::make_policy(described.policy, capacity), planned.callbacks.size(),
        std::move(options)));
    return made;
  }

  Result<void> make_event_source(const WorkloadExecutor& planned) {
    for (const WorkloadCallback& callback : planned.callbacks) {
      auto activity = TAKT_TRY(entities_.make_event_source(callback));
      add_periodic(thread_setup(model_[planned.executor], priority_), std::move(activity),
                   model_[planned.executor].id);
    }
    return {};
  }

  void add_periodic(ThreadSetup setup, PeriodicActivity activity, std::string executor = {}) {
    releases_.push_back(
        std::make_unique<PeriodicReleases>(activity.period, std::move(activity.release)));
    threads_.push_back(
        {.executor = std::move(executor),
         .gated = std::make_unique<GatedThread>(
             std::move(setup), [running = releases_.back().get()] { running->run(); })});
  }

  const model::Model& model_;
  std::optional<int> priority_;
  /// By executor: why timers are not released before its callbacks, if so.
  std::map<std::string, std::string> releaser_refusals_;
  Entities entities_;
  bool started_ = false;
  std::vector<std::unique_ptr<executor::Executor>> executors_;
  std::vector<std::unique_ptr<PeriodicReleases>> releases_;
  std::vector<Thread> threads_;
};

Process::Process(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

Process::~Process() = default;

Result<std::unique_ptr<Process>> Process::create(const model::Model& model,
                                                 const WorkloadPlan& plan,
                                                 const WorkloadProcess& process, MessageLog* log,
                                                 std::optional<int> priority) {
  auto implementation = std::make_unique<Implementation>(model, plan, log, priority);
  TAKT_TRY(implementation->create(process));
  return std::unique_ptr<Process>(new Process(std::move(implementation)));
}

Result<bool> Process::is_connected() const { return implementation_->is_connected(); }

Result<std::vector<Process::Supply>> Process::start() { return implementation_->start(); }

Result<void> Process::stop() { return implementation_->stop(); }

void Process::quit() { implementation_->quit(); }

Result<void> Process::failure() const { return implementation_->failure(); }

std::vector<Process::Count> Process::counts() const { return implementation_->counts(); }

bool Process::scale(std::string_view callback, int percent) {
  return implementation_->scale(callback, percent);
}

}  // namespace takt::workload
