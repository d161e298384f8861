#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "check_options.hpp"
#include "engine.hpp"
#include "takt/base/try.hpp"
#include "takt/model/names.hpp"
#include "takt/model/order.hpp"
#include "takt/policy/describe.hpp"

namespace takt::simulation {

using scheduling::Queueing;

namespace {

/// Waiting instances for which a policy has memory from the start.
constexpr std::size_t capacity = 64;

}  // namespace

Result<void> Engine::prepare() {
  TAKT_TRY(check_options(model_, options_));
  for (const model::Chain& chain : model_.chains)
    result_.chains.push_back({.id = chain.id, .latency = {}, .reaction_time = {}, .data_age = {}});
  inputs_.resize(model_.chains.size());
  make_callbacks();
  find_shared_cores();
  executors_.resize(model_.executors.size());
  policy::Describer describer(model_, static_cast<const policy::Options&>(options_));
  for (std::size_t i = 0; i < model_.executors.size(); ++i) {
    const ExecutorIndex executor(i);
    const bool keeps_kind = has(model_[executor].kind, model::ExecutorTrait::outside_ros) ||
                            model_[executor].longest_piece > Duration{0};
    const auto description = TAKT_TRY(describer.describe(
        executor,
        keeps_kind ? model_[executor].kind : options_.executor.value_or(model_[executor].kind)));
    make_executor(executor, description);
  }
  make_processors();
  last_arrivals_.resize(network_.links.size());
  might_have_sent_.resize(network_.links.size());
  for (std::size_t i = 0; i < network_.links.size(); ++i) {
    delays_.emplace_back(options_.seed, Stream::delay, i);
  }
  schedule_first_events();
  return {};
}

void Engine::make_callbacks() {
  for (std::size_t i = 0; i < model_.callbacks.size(); ++i) {
    const model::Callback& callback = model_.callbacks[i];
    const Vertex& vertex = network_.vertices[i];
    SimulatedCallback& result = result_.callbacks.emplace_back();
    result.id = callback.id;
    const auto times = options_.execution_times.find(callback.id);
    CallbackState& made = callbacks_.emplace_back(
        vertex.positions,
        times == options_.execution_times.end()
            ? ExecutionTimes(callback.execution_time, options_.execution, options_.shortest,
                             Random(options_.seed, Stream::execution, i))
            : ExecutionTimes(times->second));
    made.executor = callback.executor;
    // Recorded instances already contain the time for which they were suspended.
    if (callback.suspension && !options_.recorded) {
      made.suspensions.emplace(*callback.suspension, options_.execution, options_.shortest,
                               options_.seed, i);
    }
    made.registers.assign(vertex.sampled.size(), InstanceQueue(vertex.positions));
    if (options_.recorded) continue;
    if (const auto list = options_.release_times.find(callback.id);
        list != options_.release_times.end()) {
      made.releases.emplace(list->second);
    } else if (callback.activation) {
      const auto offset = options_.offsets.find(callback.id);
      made.releases.emplace(
          *callback.activation, options_.releases,
          offset == options_.offsets.end() ? std::nullopt : std::optional(offset->second),
          Random(options_.seed, Stream::release, i));
    }
    if (vertex.join) {
      made.join.emplace();
      made.join->inputs.assign(vertex.join_inputs, InstanceQueue(vertex.positions));
    }
  }
}

void Engine::make_executor(ExecutorIndex index, const policy::Description& description) {
  const model::Executor& described = model_[index];
  ExecutorState& executor = executors_[index.value()];
  std::ranges::copy(description.warnings, std::back_inserter(result_.warnings));
  executor.callbacks = description.callbacks;
  executor.dispatch = scheduling::Dispatch(static_cast<std::size_t>(description.threads));
  scheduling::PolicyDescription policy = description.policy;
  if (options_.order == OrderModel::random && !options_.recorded) {
    policy.shuffle = Random(options_.seed, Stream::order, index.value()).at(0);
  }
  executor.dispatch.replace(scheduling::make_policy(policy, capacity), executor.callbacks.size(),
                            description.policy.own_origin, description.groups);
  if (!described.overhead.empty()) {
    executor.overhead.emplace(
        described.overhead, options_.execution, options_.shortest,
        Random(options_.seed, Stream::execution, model_.callbacks.size() + index.value()));
  }
  const bool waits = description.policy.rule == scheduling::Rule::ready_set;
  const MissedPeriods usual = waits ? MissedPeriods::skipped : MissedPeriods::kept;
  for (std::size_t i = 0; i < executor.callbacks.size(); ++i) {
    const CallbackIndex callback = executor.callbacks[i];
    CallbackState& made = state(callback);
    made.local = Local(i);
    if (model_[callback].queue_depth && !model::samples_messages(model_[callback])) {
      executor.dispatch.limit_queue(made.local,
                                    static_cast<std::size_t>(*model_[callback].queue_depth));
    }
    if (model_[callback].kind != model::CallbackKind::timer || !made.releases) continue;
    made.missed_periods = options_.missed_periods.value_or(usual);
    if (options_.release_times.contains(model_[callback].id)) {
      made.missed_periods = MissedPeriods::kept;
      executor.dispatch.keep_all(made.local);
    }
    const Queueing queueing = executor.dispatch.queueing(made.local);
    if (queueing == Queueing::newest_only) made.missed_periods = MissedPeriods::replacing;
    const bool skips = made.missed_periods == MissedPeriods::skipped;
    if (skips && !made.releases->period()) made.missed_periods = MissedPeriods::kept;
    if (made.missed_periods == MissedPeriods::replacing) {
      executor.dispatch.limit_queue(made.local, 1);
    }
  }
  executor.first_thread = threads_.size();
  // Recorded releases already contain the time that they took.
  if (!waits && !options_.recorded) executor.release_overhead = described.release_overhead;
  executor.longest_piece = described.longest_piece;
  make_threads(index, description.threads);
}

void Engine::make_threads(ExecutorIndex index, std::int64_t count) {
  for (std::int64_t number = 0; number < count; ++number) {
    ThreadState& thread = threads_.emplace_back();
    thread.executor = index;
    thread.number = number;
    // An executor with pieces stands for a link, which is no thread and needs no core.
    const bool shares = options_.cores || shared_cores_[index.value()];
    if (!shares || model_[index].longest_piece > Duration{0}) {
      thread.supply.emplace(model_[index].supply, options_.reservation,
                            Random(options_.seed, Stream::reservation, threads_.size()),
                            Instant(options_.duration));
    }
  }
  // The thread of the smallest number is the first to take work.
  for (std::int64_t number = 0; number < count; ++number) {
    executors_[index.value()].idle_threads.push_back(threads_.size() - 1 -
                                                     static_cast<std::size_t>(number));
  }
}

/// Where the options do not say which cores there are, threads at fixed priorities share the one
/// that they are bound to, with all that are bound to it but slots.
void Engine::find_shared_cores() {
  shared_cores_.resize(model_.executors.size());
  if (options_.cores) return;
  using model::FixedPrioritySupply;
  std::map<std::int64_t, std::size_t> core_of;
  std::size_t cores = 0;
  for (std::size_t i = 0; i < model_.executors.size(); ++i) {
    const model::Executor& executor = model_.executors[i];
    const auto* fixed = std::get_if<FixedPrioritySupply>(&executor.supply);
    if (fixed == nullptr) continue;
    if (executor.cpu) {
      if (core_of.try_emplace(*executor.cpu, cores).second) ++cores;
    } else if (fixed->withheld > Duration{0} && executor.threads == 1) {
      shared_cores_[i] = cores++;
    }
  }
  for (std::size_t i = 0; i < model_.executors.size(); ++i) {
    const model::Executor& executor = model_.executors[i];
    const bool slots = std::holds_alternative<model::SlotSupply>(executor.supply);
    if (!executor.cpu || slots || !core_of.contains(*executor.cpu)) continue;
    shared_cores_[i] = core_of.at(*executor.cpu);
  }
}

ThreadParameters Engine::parameters_of(ExecutorIndex index) const {
  const model::Executor& executor = model_[index];
  const auto* reservation = std::get_if<model::ReservationSupply>(&executor.supply);
  const auto* fixed = std::get_if<model::FixedPrioritySupply>(&executor.supply);
  ThreadParameters made;
  if (reservation != nullptr) {
    made.policy = ThreadPolicy::deadline;
    made.reservation = *reservation;
  } else if (fixed != nullptr) {
    made.policy = ThreadPolicy::fifo;
    made.priority = fixed->priority;
  }
  made.cpu = shared_cores_[index.value()];
  if (!options_.cores) return made;
  if (executor.cpu) made.cpu = static_cast<std::size_t>(*executor.cpu);
  const auto given = options_.threads.find(executor.id);
  if (given == options_.threads.end()) return made;
  const ThreadOptions& wanted = given->second;
  if (wanted.policy) made.policy = *wanted.policy;
  if (wanted.policy == ThreadPolicy::fifo) made.priority = wanted.priority;
  if (wanted.cpu) made.cpu = static_cast<std::size_t>(*wanted.cpu);
  return made;
}

void Engine::make_processors() {
  std::size_t cores = static_cast<std::size_t>(options_.cores.value_or(0));
  for (const auto& core : shared_cores_) cores = std::max(cores, core ? *core + 1 : 0);
  if (cores == 0) return;
  std::vector<ThreadParameters> parameters;
  for (const ThreadState& thread : threads_) parameters.push_back(parameters_of(thread.executor));
  processors_.emplace(cores, parameters);
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const model::Supply& supply = model_[threads_[i].executor].supply;
    const auto* fixed = std::get_if<model::FixedPrioritySupply>(&supply);
    if (fixed == nullptr || fixed->withheld == Duration{0} || !parameters[i].cpu) continue;
    processors_->withhold(*parameters[i].cpu,
                          Withheld(*fixed, options_.reservation,
                                   Random(options_.seed, Stream::withheld, *parameters[i].cpu)));
  }
}

/// The first events.
void Engine::schedule_first_events() {
  if (options_.recorded && !options_.recorded->empty()) {
    events_.push(options_.recorded->front().when, EventKind::activation, 0);
  }
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    if (callbacks_[i].releases) schedule_activation(CallbackIndex(i));
  }
  for (std::size_t i = 0; i < executors_.size(); ++i) {
    if (executors_[i].dispatch.goes_by_time()) events_.push(Instant{}, EventKind::wake_up, i);
  }
}

}  // namespace takt::simulation
