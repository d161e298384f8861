#include "takt/replay/compare.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "entities.hpp"
#include "takt/base/try.hpp"
#include "takt/model/names.hpp"
#include "takt/simulation/simulate.hpp"

namespace takt::replay {

namespace {

using model::CallbackIndex;
using simulation::RecordedRelease;
using Instances = std::vector<ExecutorRecord::Instance>;

/// The model with that executor as it announced itself, alone on a processor.
model::Model as_recorded(const model::Model& model, model::ExecutorIndex index,
                         const execution::Objects& objects) {
  model::Model result = model;
  model::Executor& executor = result.executors[index.value()];
  for (const execution::ExecutorThread& thread : objects.executor_threads) {
    if (thread.executor != executor.id) continue;
    executor.kind = model::from_string<model::ExecutorKind>(thread.kind).value_or(executor.kind);
    executor.timers = model::from_string<TimerHandling>(thread.timers).value_or(executor.timers);
    executor.threads = thread.threads;
  }
  executor.supply = model::DedicatedSupply{};
  executor.overhead.clear();
  // Messages that full queues dropped were never released.
  for (model::Callback& callback : result.callbacks) callback.queue_depth.reset();
  return result;
}

using Message = ExecutorRecord::Instance::Message;

/// Whether the executor takes messages when they come and chooses among those that it keeps.
bool keeps_messages(const ExecutorRecord& record) {
  return std::ranges::find(record.instances, Message::taken_and_chosen,
                           &ExecutorRecord::Instance::message) != record.instances.end();
}

/// The instances that a decision chose. An executor that keeps messages for joins runs those that
/// only add to a set at once.
Instances decided(const model::Model& model, const ExecutorRecord& record) {
  std::set<CallbackIndex> joins;
  if (keeps_messages(record)) {
    for (const model::Join& join : model.joins) joins.insert(join.callback);
  }
  Instances instances = record.instances;
  std::erase_if(instances, [&](const ExecutorRecord::Instance& instance) {
    return instance.message == Message::taken && joins.contains(instance.callback);
  });
  std::ranges::stable_sort(instances, {}, &ExecutorRecord::Instance::start);
  return instances;
}

/// Instances whose release was recorded, in the order of their starts.
Instances with_release(const model::Model& model, const ExecutorRecord& record,
                       std::int64_t& without) {
  const Instances instances = decided(model, record);
  std::map<CallbackIndex, std::int64_t> waiting;
  std::size_t released = 0;
  Instances result;
  for (const ExecutorRecord::Instance& instance : instances) {
    // In a simulation an executor learns of what it starts in the same instant.
    for (; released < record.releases.size() && record.releases[released].time <= instance.start;
         ++released) {
      ++waiting[record.releases[released].callback];
    }
    if (waiting[instance.callback] == 0) {
      ++without;
      continue;
    }
    --waiting[instance.callback];
    result.push_back(instance);
  }
  return result;
}

/// Takes out the releases of timers that never led to an instance, and returns their number. They
/// are the last releases of their timer: a stopped timer is not started again, and instances run in
/// order.
std::int64_t take_out_withdrawn(const model::Model& model, const Instances& instances,
                                std::vector<ExecutorRecord::Release>& releases) {
  std::map<CallbackIndex, std::int64_t> without_instance;
  for (const ExecutorRecord::Release& release : releases) {
    if (model[release.callback].kind == model::CallbackKind::timer) {
      ++without_instance[release.callback];
    }
  }
  for (const ExecutorRecord::Instance& instance : instances) --without_instance[instance.callback];
  std::vector<ExecutorRecord::Release> rest;
  for (const ExecutorRecord::Release& release : std::views::reverse(releases)) {
    if (without_instance[release.callback]-- <= 0) rest.push_back(release);
  }
  const auto withdrawn = std::ssize(releases) - std::ssize(rest);
  releases.assign(rest.rbegin(), rest.rend());
  return withdrawn;
}

/// How long before `time` the last slot of the callback ended: zero within one, none without any.
std::optional<Duration> since_slot(const model::SlotTable& table, CallbackIndex callback,
                                   Instant time) {
  const Duration offset = time.time_since_epoch() % table.cycle;
  std::optional<Duration> least;
  for (const auto& [slot, of] : table.entries) {
    if (of != callback) continue;
    if (offset >= slot.start && offset < slot.end) return Duration{0};
    // The instant of its end is no part of a slot.
    const Duration late = (offset - slot.end + table.cycle) % table.cycle + epsilon;
    if (!least || late < *least) least = late;
  }
  return least;
}

/// Moves starts that come after the end of their slot back into it, where the executor had nothing
/// to do at that end. Returns their number.
std::int64_t move_into_slots(const model::SlotTable& table, Instances& instances) {
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto late = since_slot(table, instances[i].callback, instances[i].start);
    if (!late || *late == Duration{0}) continue;
    if (i > 0 && instances[i].start - *late <= instances[i - 1].end) continue;
    instances[i].start -= *late;
    ++moved;
  }
  return moved;
}

/// How many instances the executor had completed before the first of `instances`: those that the
/// recording does not show.
std::int64_t completed_before(const ExecutorRecord& record, const Instances& instances) {
  std::int64_t most = 0;
  std::size_t started = 0;
  for (const ExecutorRecord::Release& release : record.releases) {
    while (started < instances.size() && instances[started].start < release.time) ++started;
    most = std::max(most, release.completed - static_cast<std::int64_t>(started));
  }
  return most;
}

/// The releases for the simulation. There each instance lasts until the next one starts, so the
/// decision to start it knows all that was released before. Policies that follow instances also
/// need to know whether the instance before was completed when a release came, so that order is
/// kept.
std::vector<RecordedRelease> releases(const ExecutorRecord& record, const Instances& instances,
                                      Instant begin) {
  std::vector<RecordedRelease> result;
  const std::int64_t before = completed_before(record, instances);
  std::size_t started = 0;
  for (const ExecutorRecord::Release& release : record.releases) {
    while (started < instances.size() && instances[started].start < release.time) ++started;
    if (started == instances.size()) break;
    const Instant decision = instances[started].start;
    const bool after_completion = std::cmp_greater_equal(release.completed - before, started);
    const Instant when =
        after_completion || started == 0 ? decision : std::min(release.time, decision - epsilon);
    result.push_back({.callback = release.callback,
                      .when = Instant(when - begin),
                      .activation = Instant(release.activation - begin),
                      .origin = Instant(release.origin - begin)});
  }
  return result;
}

void compare_orders(const Instances& recorded,
                    const std::vector<simulation::TimelineEntry>& simulated, Comparison& result) {
  result.decisions = static_cast<std::int64_t>(recorded.size());
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    std::optional<CallbackIndex> chosen;
    if (i < simulated.size()) chosen = simulated[i].callback;
    if (chosen == recorded[i].callback) {
      ++result.agreeing;
    } else if (!result.first_difference) {
      result.first_difference = Difference{.decision = static_cast<std::int64_t>(i),
                                           .when = recorded[i].start,
                                           .recorded = recorded[i].callback,
                                           .simulated = chosen};
    }
  }
}

Result<Comparison> compare(const model::Model& model, model::ExecutorIndex index,
                           const execution::Objects& objects, ExecutorRecord record) {
  model::Model recorded = as_recorded(model, index, objects);
  const model::Executor& executor = recorded[index];
  Comparison result;
  result.executor = index;
  result.kind = executor.kind;
  if (executor.threads > 1) {
    result.reason =
        fmt::format("{} threads: the order of starts is not that of decisions; record it with one",
                    executor.threads);
    return result;
  }
  if (executor.threads < 1) {
    result.reason = fmt::format("the recording says that it has {} threads", executor.threads);
    return result;
  }
  if (record.releases.empty()) {
    result.reason =
        "the recording has no takt:callback_release of it; record takt run with all events";
    return result;
  }
  std::vector<CallbackIndex> stands_for;
  if (!keeps_messages(record)) stands_for = separate_entities(recorded, record);
  Instances instances = with_release(recorded, record, result.without_release);
  if (instances.empty()) return result;
  if (executor.kind == model::ExecutorKind::edf && result.without_release > 0) {
    // At most one instance of a chain is in progress, and these would end some.
    result.reason = fmt::format(
        "{} instances have no takt:callback_release (as responses of services), and what may run "
        "next depends on when they ended",
        result.without_release);
    return result;
  }
  if (has(executor.kind, model::ExecutorTrait::wait_set)) {
    result.withdrawn = take_out_withdrawn(recorded, instances, record.releases);
  }
  Duration alignment{1};
  if (has(executor.kind, model::ExecutorTrait::table) && executor.table) {
    alignment = executor.table->cycle;
    result.at_end_of_slot = move_into_slots(*executor.table, instances);
  }
  const Instant first = instances.front().start;
  const Instant begin = first - first.time_since_epoch() % alignment;

  simulation::Options options;
  options.recorded = releases(record, instances, begin);
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const bool last = i + 1 == instances.size();
    const Instant end = last ? instances[i].end : instances[i + 1].start;
    options.execution_times[recorded[instances[i].callback].id].push_back(end - instances[i].start);
  }
  options.duration = instances.back().end - begin + std::chrono::seconds{1};
  options.timeline = instances.size();
  const auto simulated = TAKT_TRY(simulation::simulate(recorded, options));
  compare_orders(instances, simulated.timeline, result);
  if (!stands_for.empty() && result.first_difference) {
    auto& [decision, when, ran, chosen] = *result.first_difference;
    ran = stands_for[ran.value()];
    if (chosen) chosen = stands_for[chosen->value()];
  }
  return result;
}

}  // namespace

Result<std::vector<Comparison>> compare(const model::Model& model,
                                        const execution::Objects& objects,
                                        const Recording& recording) {
  std::vector<Comparison> result;
  for (std::size_t i = 0; i < model.executors.size(); ++i) {
    const ExecutorRecord& record = recording.executors()[i];
    const model::ExecutorIndex index(i);
    if (record.instances.empty()) continue;
    if (has(model[index].kind, model::ExecutorTrait::outside_ros)) continue;
    auto compared = TAKT_TRY(compare(model, index, objects, record));
    result.push_back(std::move(compared));
  }
  return result;
}

}  // namespace takt::replay
