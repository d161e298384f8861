#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "recovery.hpp"
#include "takt/capture/tracepoints/schema.hpp"

namespace takt::capture::ebpf {

using RecoveredEvent = std::pair<tracepoints::Event, std::vector<std::byte>>;

/// The initialisation events that a process would have emitted for its objects, had it been watched
/// when it made them, and one that says what they lack. Gids get `gid_size` bytes.
[[nodiscard]] std::vector<RecoveredEvent> events_of(const Objects& objects, std::size_t gid_size);

}  // namespace takt::capture::ebpf
