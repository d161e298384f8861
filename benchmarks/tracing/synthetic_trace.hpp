#pragma once

#include <cstdint>
#include <filesystem>

namespace takt::benchmark {

/// Writes a trace of at least `events` events as LTTng would record it (two processors; contexts
/// vpid, vtid, procname; packets of 256 KiB), and returns how many there are.
///
/// Four processes with an executor each. 24 timers of 10 ms each begin a chain through three
/// subscriptions, so that an activation of a chain makes 38 events: waits, takes, callbacks and
/// publications as rclcpp records them. Every message is taken, nothing is lost.
std::uint64_t write_synthetic_trace(const std::filesystem::path& directory, std::uint64_t events);

}  // namespace takt::benchmark
