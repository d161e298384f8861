#pragma once

#include <sys/types.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "../ctf/process_trace.hpp"
#include "takt/base/descriptor.hpp"
#include "takt/capture/recording.hpp"
#include "takt/capture/ring/mapping.hpp"

namespace takt::capture::ring {

/// The rings of the processes that run now and that this user may look into, with their memory.
/// Each ring is listed once, with the process that writes it, although recorders hold rings, too.
[[nodiscard]] std::vector<std::pair<pid_t, Descriptor>> running_rings();

/// The memory of the ring that a process writes; none if it has none.
[[nodiscard]] Descriptor ring_of(pid_t process);

/// Appends the entries of a process's object log up to the time `until` to its trace. An entry
/// older than `since` gets the time `since`. Both are CLOCK_MONOTONIC, nanoseconds. `events`: mask
/// of those wanted. Returns the entries that the log has lost; the trace says so, too.
[[nodiscard]] Losses append_objects(const Mapping& mapping, std::uint64_t events,
                                    std::uint64_t since, std::uint64_t until,
                                    ctf::ProcessTrace& trace);

}  // namespace takt::capture::ring
