#include "takt/execution/run_clocks.hpp"

#include <algorithm>
#include <utility>

#include "takt/base/grow.hpp"

namespace takt::execution {

void RunClocks::on_switch(const events::Threads& threads, const Occurrence& at,
                          const tracepoints::SchedSwitch& change) {
  has_switches_ = true;
  const events::HostIndex host = threads[at.process].host;
  auto& largest = grow_to(largest_priority_, host);
  largest = std::max({largest, change.prev_prio, change.next_prio});
  if (const auto thread = kernel_threads_.find(threads, host, change.prev_tid)) {
    Clock& clock = grow_to(clocks_, *thread);
    if (clock.priority != change.prev_prio) {
      clock.priority_changes += clock.priority ? 1U : 0U;
      clock.priority = change.prev_prio;
    }
    if (const auto since = std::exchange(clock.running_since, std::nullopt)) {
      clock.total += at.time - *since;
    }
    if (!is_ready(change.prev_state)) {
      clock.suspended_since = at.time;
      ++clock.suspended.times;
    }
  }
  if (const auto thread = kernel_threads_.find(threads, host, change.next_tid)) {
    Clock& clock = grow_to(clocks_, *thread);
    wake(clock, at.time);
    clock.running_since = at.time;
  }
}

void RunClocks::on_wakeup(const events::Threads& threads, const Occurrence& at,
                          const tracepoints::SchedWakeup& wakeup) {
  const events::HostIndex host = threads[at.process].host;
  if (const auto thread = kernel_threads_.find(threads, host, wakeup.tid)) {
    wake(grow_to(clocks_, *thread), at.time);
  }
}

void RunClocks::wake(Clock& clock, Instant time) {
  if (const auto since = std::exchange(clock.suspended_since, std::nullopt)) {
    clock.suspended.time += time - *since;
  }
}

Schedule RunClocks::schedule(const events::Threads& threads, events::ThreadIndex thread) const {
  if (thread.value() >= clocks_.size() || !clocks_[thread.value()].priority) return {};
  const Clock& clock = clocks_[thread.value()];
  // The kernel has 0 to 98 for real-time threads, the most urgent first, -1 for deadlines, and 100
  // to 139 for others, the idle thread among them. LTTng takes 100 from each.
  constexpr std::int32_t others = 100;
  constexpr std::int64_t lowest = 99;
  const std::int32_t largest = value_at(largest_priority_, threads[threads[thread].process].host);
  const std::int32_t priority = *clock.priority + (largest < others ? others : 0);
  Schedule found;
  found.changes = clock.priority_changes;
  if (priority < 0) {
    found.policy = Schedule::Policy::deadline;
  } else if (priority < others) {
    found.policy = Schedule::Policy::real_time;
    found.priority = lowest - priority;
  } else {
    found.policy = Schedule::Policy::other;
  }
  return found;
}

std::optional<Suspended> RunClocks::suspended(events::ThreadIndex thread) {
  if (!has_switches_) {
    return std::nullopt;
  }
  return grow_to(clocks_, thread).suspended;
}

std::optional<Duration> RunClocks::now(events::ThreadIndex thread, Instant time) {
  if (!has_switches_) {
    return std::nullopt;
  }
  Clock& clock = grow_to(clocks_, thread);
  if (clock.has_own) {
    return std::nullopt;
  }
  clock.is_used = true;
  clock.total += time - clock.running_since.value_or(time);
  clock.running_since = time;
  return clock.total;
}

bool RunClocks::has_own(events::ThreadIndex thread) {
  if (!has_switches_) {
    return false;
  }
  Clock& clock = grow_to(clocks_, thread);
  clock.has_own = true;
  return std::exchange(clock.is_used, false);
}

}  // namespace takt::execution
