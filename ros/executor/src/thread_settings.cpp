#include "takt/executor/thread_settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <variant>

#include "takt/base/try.hpp"
#include "takt/linux/affinity.hpp"
#include "takt/linux/middleware_threads.hpp"

namespace takt::executor {

namespace {

constexpr int highest_priority = 99;

/// Of what releases timers beside reservations.
constexpr int beside_reservations = 90;

/// 0: none, as at best effort.
int priority_of(const linux_os::ThreadScheduling& scheduling) {
  if (const auto* fifo = std::get_if<linux_os::FifoScheduling>(&scheduling)) return fifo->priority;
  const auto* turns = std::get_if<linux_os::RoundRobinScheduling>(&scheduling);
  return turns != nullptr ? turns->priority : 0;
}

bool is_reservation(const linux_os::ThreadScheduling& scheduling) {
  return std::holds_alternative<linux_os::DeadlineScheduling>(scheduling);
}

linux_os::ThreadScheduling above(int priority) {
  return linux_os::FifoScheduling{.priority = std::min(priority + 1, highest_priority)};
}

}  // namespace

Result<void> apply(const ThreadSettings& settings) {
  if (!settings.processors.empty()) {
    TAKT_TRY(linux_os::set_affinity(0, settings.processors));
  }
  if (!settings.scheduling) return {};
  return linux_os::set_scheduling(0, *settings.scheduling);
}

linux_os::ThreadScheduling before(const linux_os::ThreadScheduling& scheduling) {
  if (is_reservation(scheduling)) {
    return linux_os::FifoScheduling{.priority = beside_reservations};
  }
  const int priority = priority_of(scheduling);
  if (priority == 0) return linux_os::OtherScheduling{};
  return above(priority);
}

Result<void> deliver_before(const linux_os::ThreadScheduling& scheduling) {
  linux_os::ThreadScheduling wanted = linux_os::RoundRobinScheduling{.priority = 1};
  if (!is_reservation(scheduling)) {
    if (priority_of(scheduling) == 0) return {};
    wanted = above(priority_of(scheduling));
  }
  for (const linux_os::ThreadIdentity& thread : linux_os::delivering_threads(getpid())) {
    const auto present = linux_os::get_scheduling(thread.thread);
    if (!present || is_reservation(*present) || priority_of(*present) >= priority_of(wanted)) {
      continue;
    }
    Result<void> set = linux_os::set_scheduling(thread.thread, wanted);
    if (!set && linux_os::is_alive(thread)) {
      return error("thread {} ({}) of the middleware: {}", thread.thread, linux_os::name_of(thread),
                   set.error().message);
    }
  }
  return {};
}

}  // namespace takt::executor
