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

}  // namespace takt::executor
