#pragma once

#include <cstdint>

namespace takt::benchmark {

/// A program that publishes, takes and relays messages without doing anything else: calls its
/// tracepoints so many times a second, in bursts of a millisecond, for so many seconds.
void run_robot(std::uint64_t events_per_second, int seconds);

}  // namespace takt::benchmark
