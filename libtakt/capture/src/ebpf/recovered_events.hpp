#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "recovery.hpp"
#include "takt/tracepoints/tracepoints.hpp"

namespace takt::capture::ebpf {

using RecoveredEvent = std::pair<tracepoints::EventType, std::vector<std::byte>>;

/// The initialisation events that a process would have emitted for its objects, had it been watched
/// when it made them, and one that says what they lack. Gids get `gid_size` bytes.
[[nodiscard]] std::vector<RecoveredEvent> events_of(const Objects& objects, std::size_t gid_size);

/// The same for a running process. A separate process searches it, because a hostile process can
/// make its memory look like any number of objects and can keep its reader waiting. Needs
/// CAP_SYS_PTRACE. None: the search did not end within `time`, or took too much memory.
[[nodiscard]] std::optional<std::vector<RecoveredEvent>> recover_events(
    pid_t process, std::size_t gid_size, std::chrono::milliseconds time);

/// The event that says which client library a process uses.
[[nodiscard]] RecoveredEvent client_library(std::string_view name);

/// The event that says that nothing is known of a process's objects, and why.
[[nodiscard]] RecoveredEvent nothing_recovered();

}  // namespace takt::capture::ebpf
