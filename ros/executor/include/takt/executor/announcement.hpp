#pragma once

#include <cstdint>
#include <string>

#include "takt/linux/thread_scheduling.hpp"

namespace takt::executor {

/// What a trace tells of an executor.
struct Announcement {
  /// The executor's id in the timing model.
  std::string id;
  /// Kind and handling of timers as the timing model names them.
  std::string kind;
  std::string timers;
  std::int64_t threads = 1;
};

/// Leaves `takt:executor_init` in the trace, with the calling thread's scheduling and pinning. Call
/// it on the executor's thread when that is scheduled as it will stay. Does nothing when the
/// process runs with a tracetools library other than Takt's.
void announce(const Announcement& executor);

}  // namespace takt::executor
