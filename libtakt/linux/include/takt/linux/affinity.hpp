#pragma once

#include <sys/types.h>

#include <vector>

#include "takt/base/error.hpp"

namespace takt::linux_os {

/// More processors than any kernel is built for (CONFIG_NR_CPUS is 8192 at most).
inline constexpr int processor_limit = 8192;

/// The processors on which thread `thread` (0: the calling one) may run, ascending.
[[nodiscard]] Result<std::vector<int>> affinity(pid_t thread);

/// Lets thread `thread` (0: the calling one) run on `processors` only.
[[nodiscard]] Result<void> set_affinity(pid_t thread, const std::vector<int>& processors);

}  // namespace takt::linux_os
