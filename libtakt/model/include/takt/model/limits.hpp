#pragma once

#include <cstdint>
#include <limits>

/// Limits of a model's numbers that other documents share.
namespace takt::model {

/// The most threads of an executor. Analyses, the simulator and the real executors keep something
/// for each of them.
inline constexpr std::int64_t most_threads = 1024;

/// The largest number of a processor that Linux's interfaces can express.
inline constexpr std::int64_t most_cpu = std::numeric_limits<std::int32_t>::max();

/// The priorities of SCHED_FIFO go from 1 to this.
inline constexpr std::int64_t most_thread_priority = 99;

/// The most suspensions that a curve of them counts.
inline constexpr std::int64_t most_suspensions = 1'000'000;

}  // namespace takt::model
