#include "takt/flow/thread_states.hpp"

#include <algorithm>
#include <utility>

#include "takt/base/grow.hpp"

namespace takt::flow {
namespace {

/// A state of 0 is ready to run; higher bits are the kernel's flags for tracers.
bool is_ready(std::int64_t state) { return (state & 0xff) == 0; }

/// Priorities below 0 are those of SCHED_DEADLINE.
bool has_reservation(std::int32_t priority) { return priority < 0; }

/// A hostile trace may have more names than this; threads with further ones have no name.
constexpr std::size_t most_names = std::size_t{1} << 16;

}  // namespace

std::uint32_t ThreadStates::actor(std::string_view name) {
  const auto found = actors_.find(std::string(name));
  if (found != actors_.end()) {
    return found->second;
  }
  if (names_.size() == most_names) {
    return no_actor;
  }
  names_.emplace_back(name);
  return actors_[names_.back()] = static_cast<std::uint32_t>(names_.size() - 1);
}

ThreadStates::Thread* ThreadStates::find(const execution::Database& database,
                                         events::HostIndex host, std::int64_t number) {
  const auto found = kernel_threads_.find(database.threads(), host, number);
  return found ? &grow_to(threads_, *found) : nullptr;
}

void ThreadStates::add(Thread& thread, Instant end) {
  thread.now.end = end;
  thread.off.push_back(thread.now);
  ++rows_;
}

void ThreadStates::on_switch(const execution::Database& database, const execution::Occurrence& at,
                             const tracepoints::SchedSwitch& change) {
  const events::HostIndex host = database.threads()[at.process].host;
  const std::uint32_t next = actor(change.next_comm);
  running_[{host, at.cpu}] = next;
  if (Thread* const thread = find(database, host, change.prev_tid)) {
    thread->is_off = true;
    thread->now = {at.time, at.time, Why::blocked, no_actor};
    if (is_ready(change.prev_state)) {
      const bool is_throttled =
          has_reservation(change.prev_prio) && !has_reservation(change.next_prio);
      thread->now.why = is_throttled ? Why::reservation : Why::preempted;
      thread->now.actor = next;
    }
  }
  Thread* const thread = find(database, host, change.next_tid);
  if (thread != nullptr && std::exchange(thread->is_off, false)) {
    add(*thread, at.time);
  }
}

void ThreadStates::on_wakeup(const execution::Database& database, const execution::Occurrence& at,
                             const tracepoints::SchedWakeup& wakeup) {
  const events::HostIndex host = database.threads()[at.process].host;
  Thread* const thread = find(database, host, wakeup.tid);
  if (thread == nullptr || !thread->is_off || thread->now.why != Why::blocked) {
    return;
  }
  add(*thread, at.time);
  const auto running = running_.find({host, wakeup.target_cpu});
  thread->now = {at.time, at.time, Why::preempted,
                 running == running_.end() ? no_actor : running->second};
}

std::vector<ThreadStates::Off> ThreadStates::off(execution::ThreadIndex thread, Instant begin,
                                                 Instant end) const {
  if (thread.value() >= threads_.size()) {
    return {};
  }
  const auto& all = threads_[thread.value()].off;
  const auto from =
      std::ranges::partition_point(all, [&](const Off& off) { return off.end <= begin; });
  const auto to =
      std::partition_point(from, all.end(), [&](const Off& off) { return off.begin < end; });
  return {from, to};
}

void ThreadStates::align(const events::Threads& threads, const std::vector<HostClock>& clocks) {
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const events::HostIndex host = threads[threads[execution::ThreadIndex(i)].process].host;
    Thread& thread = threads_[i];
    for (; thread.aligned < thread.off.size(); ++thread.aligned) {
      Off& off = thread.off[thread.aligned];
      off.begin = clocks[host.value()].to_reference(off.begin);
      off.end = clocks[host.value()].to_reference(off.end);
    }
  }
}

std::vector<std::uint64_t> ThreadStates::counts() const {
  std::vector<std::uint64_t> counts;
  counts.reserve(threads_.size());
  for (const Thread& thread : threads_) {
    counts.push_back(thread.dropped + thread.off.size());
  }
  return counts;
}

void ThreadStates::drop_before(const std::vector<std::uint64_t>& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Thread& thread = threads_[i];
    const std::uint64_t count = counts[i] - thread.dropped;
    thread.off.erase(thread.off.begin(), thread.off.begin() + static_cast<std::ptrdiff_t>(count));
    thread.aligned -= std::min<std::size_t>(thread.aligned, count);
    thread.dropped = counts[i];
    rows_ -= count;
  }
}

}  // namespace takt::flow
