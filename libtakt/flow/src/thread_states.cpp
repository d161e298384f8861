#include "takt/flow/thread_states.hpp"

#include <algorithm>
#include <utility>

#include "takt/base/grow.hpp"

namespace takt::flow {
namespace {

/// Priorities below 0 are those of SCHED_DEADLINE.
bool has_reservation(std::int32_t priority) { return priority < 0; }

/// A hostile trace may have more names than this; threads with further ones have no name.
constexpr std::size_t most_names = std::size_t{1} << 16;

}  // namespace

std::uint32_t OffProcessor::actor(std::string_view name) {
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

void OffProcessor::end(execution::ThreadIndex index, Thread& thread, Instant time) {
  thread.now.end = time;
  on_off(index, thread.now);
}

void OffProcessor::on_switch(const execution::Database& database, const execution::Occurrence& at,
                             const tracepoints::SchedSwitch& change) {
  const events::HostIndex host = database.threads()[at.process].host;
  const std::uint32_t next = actor(change.next_comm);
  running_[{host, at.cpu}] = next;
  if (const auto left = kernel_threads_.find(database.threads(), host, change.prev_tid)) {
    Thread& thread = grow_to(threads_, *left);
    thread.is_off = true;
    thread.now = {at.time, at.time, Off::Why::blocked, no_actor};
    if (execution::is_ready(change.prev_state)) {
      const bool is_throttled =
          has_reservation(change.prev_prio) && !has_reservation(change.next_prio);
      thread.now.why = is_throttled ? Off::Why::reservation : Off::Why::preempted;
      thread.now.actor = next;
    }
  }
  const auto came = kernel_threads_.find(database.threads(), host, change.next_tid);
  if (came && came->value() < threads_.size()) {
    Thread& thread = threads_[came->value()];
    if (std::exchange(thread.is_off, false)) end(*came, thread, at.time);
  }
}

void OffProcessor::on_wakeup(const execution::Database& database, const execution::Occurrence& at,
                             const tracepoints::SchedWakeup& wakeup) {
  const events::HostIndex host = database.threads()[at.process].host;
  const auto woken = kernel_threads_.find(database.threads(), host, wakeup.tid);
  if (!woken || woken->value() >= threads_.size()) return;
  Thread& thread = threads_[woken->value()];
  if (!thread.is_off || thread.now.why != Off::Why::blocked) return;
  end(*woken, thread, at.time);
  const auto running = running_.find({host, wakeup.target_cpu});
  thread.now = {at.time, at.time, Off::Why::preempted,
                running == running_.end() ? no_actor : running->second};
}

void ThreadStates::on_off(execution::ThreadIndex thread, const Off& off) {
  grow_to(threads_, thread).off.push_back(off);
  ++rows_;
}

void ProcessorWaits::on_off(execution::ThreadIndex thread, const Off& off) {
  if (off.why != Off::Why::preempted) return;
  Wait& wait = grow_to(waits_, thread);
  if (off.end - off.begin > wait.longest) wait = {off.end - off.begin, off.actor};
}

std::vector<Off> ThreadStates::off(execution::ThreadIndex thread, Instant begin,
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
