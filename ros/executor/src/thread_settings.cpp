#include "takt/executor/thread_settings.hpp"

#include "takt/linux/affinity.hpp"

namespace takt::executor {

Result<void> apply(const ThreadSettings& settings) {
  if (!settings.processors.empty()) {
    if (Result<void> pinned = linux_os::set_affinity(0, settings.processors); !pinned)
      return pinned;
  }
  if (!settings.scheduling) return {};
  return linux_os::set_scheduling(0, *settings.scheduling);
}

}  // namespace takt::executor
