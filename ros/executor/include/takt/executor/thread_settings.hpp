#pragma once

#include <optional>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/linux/thread_scheduling.hpp"

namespace takt::executor {

/// What a thread asks of the kernel.
struct ThreadSettings {
  /// None: as the thread that makes it.
  std::optional<linux_os::ThreadScheduling> scheduling{};
  /// The processors that it may use; empty: all. The kernel serves a reservation on all processors
  /// of the machine or not at all.
  std::vector<int> processors{};
};

/// Applies the settings to the calling thread. Errors say what the kernel asks for.
[[nodiscard]] Result<void> apply(const ThreadSettings& settings);

/// How a thread is scheduled that must not wait for threads scheduled so, as the one that releases
/// their timers: one priority above theirs, or 99; under SCHED_FIFO 90 if they have reservations,
/// which come before any priority; at best effort otherwise.
[[nodiscard]] linux_os::ThreadScheduling before(const linux_os::ThreadScheduling& scheduling);

/// Schedules the middleware's threads of this process that deliver messages before threads
/// scheduled so, as far as they are not yet: one priority above theirs, or at SCHED_RR 1, which is
/// before best effort, if they have reservations. Does nothing for best effort. The error says what
/// the kernel asks for.
[[nodiscard]] Result<void> deliver_before(const linux_os::ThreadScheduling& scheduling);

}  // namespace takt::executor
