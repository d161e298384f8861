#include "takt/executor/announcement.hpp"

#include <variant>
#include <vector>

#include "takt/linux/affinity.hpp"
#include "takt/tracetools/takt_tracetools.h"

// The stock tracetools library has no such function: then the address is null.
extern "C" __attribute__((weak)) decltype(takt_trace_executor_init) takt_trace_executor_init;

namespace takt::executor {

void announce(const Announcement& executor) {
  // A local copy, because the compiler may take the address of a declared function as never null.
  auto* const volatile trace = &takt_trace_executor_init;
  if (trace == nullptr) return;
  const linux_os::ThreadScheduling scheduling =
      linux_os::get_scheduling(0).value_or(linux_os::OtherScheduling{});
  linux_os::DeadlineScheduling reservation;
  std::int64_t priority = 0;
  if (const auto* deadline = std::get_if<linux_os::DeadlineScheduling>(&scheduling)) {
    reservation = *deadline;
  } else if (const auto* fifo = std::get_if<linux_os::FifoScheduling>(&scheduling)) {
    priority = fifo->priority;
  } else if (const auto* round_robin = std::get_if<linux_os::RoundRobinScheduling>(&scheduling)) {
    priority = round_robin->priority;
  }
  const std::vector<int> processors = linux_os::affinity(0).value_or(std::vector<int>{});
  trace(executor.id.c_str(), executor.kind.c_str(), executor.timers.c_str(), executor.threads,
        linux_os::policy_name(scheduling), reservation.runtime.count(),
        reservation.deadline.count(), reservation.period.count(), priority,
        processors.size() == 1 ? processors.front() : -1);
}

}  // namespace takt::executor
