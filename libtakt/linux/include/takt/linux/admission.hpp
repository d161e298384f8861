#pragma once

#include <span>

#include "takt/base/error.hpp"
#include "takt/linux/thread_scheduling.hpp"

/// Whether a set of SCHED_DEADLINE reservations gets what it asks for.
namespace takt::linux_os {

/// The test of Goossens, Funk and Baruah for global earliest-deadline-first scheduling on identical
/// processors: with at most m - (m - 1) * (largest density) of total density every reservation is
/// served by its deadline. Density = runtime / deadline. Sufficient, not necessary; the kernel's
/// own admission does not check it.
struct GfbTest {
  double total = 0;
  double largest = 0;
  double limit = 0;
  bool holds = true;
};

/// The test on `processors` >= 1 identical processors, O(n).
[[nodiscard]] GfbTest gfb_test(std::span<const DeadlineScheduling> reservations, int processors);

/// The share of each processor that the kernel lets real-time and deadline threads have together,
/// between 0 and 1 (sched_rt_runtime_us / sched_rt_period_us; 1 when unlimited).
[[nodiscard]] Result<double> realtime_share();

/// Whether the kernel would admit `reservations` on `processors` if there were no others: an error
/// names the total bandwidth and the limit.
[[nodiscard]] Result<void> check_kernel_admission(std::span<const DeadlineScheduling> reservations,
                                                  int processors);

}  // namespace takt::linux_os
