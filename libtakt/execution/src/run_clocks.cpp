#include "takt/execution/run_clocks.hpp"

#include <utility>

#include "takt/base/grow.hpp"

namespace takt::execution {

void RunClocks::on_switch(const events::Threads& threads, const Occurrence& at,
                          const tracepoints::SchedSwitch& change) {
  has_switches_ = true;
  const events::HostIndex host = threads[at.process].host;
  if (const auto thread = kernel_threads_.find(threads, host, change.prev_tid)) {
    Clock& clock = grow_to(clocks_, *thread);
    if (const auto since = std::exchange(clock.running_since, std::nullopt)) {
      clock.total += at.time - *since;
    }
  }
  if (const auto thread = kernel_threads_.find(threads, host, change.next_tid)) {
    grow_to(clocks_, *thread).running_since = at.time;
  }
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
