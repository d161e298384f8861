#pragma once

#include <span>

#include "takt/base/error.hpp"
#include "takt/linux/thread_scheduling.hpp"
#include "takt/scheduling/global_edf.hpp"

/// Whether a set of SCHED_DEADLINE reservations gets what it asks for.
namespace takt::linux_os {

using scheduling::GfbTest;

/// Whether the reservations are served by their deadlines on `processors` >= 1 identical processors
/// under global scheduling, O(n). The kernel's own admission does not check it.
[[nodiscard]] GfbTest gfb_test(std::span<const DeadlineScheduling> reservations, int processors);

/// The share of each processor that the kernel lets real-time and deadline threads have together,
/// between 0 and 1 (sched_rt_runtime_us / sched_rt_period_us; 1 when unlimited).
[[nodiscard]] Result<double> realtime_share();

/// The share of each processor that the kernel admits reservations up to: realtime_share() less
/// what it reserves for all other threads itself. Linux 6.12 and later have such a reservation, of
/// 5 % unless somebody changed it (/sys/kernel/debug/sched/fair_server, for root alone).
[[nodiscard]] Result<double> deadline_share();

/// Whether the kernel would admit `reservations` on `processors` if there were no others: an error
/// names the total bandwidth and the limit.
[[nodiscard]] Result<void> check_kernel_admission(std::span<const DeadlineScheduling> reservations,
                                                  int processors);

}  // namespace takt::linux_os
