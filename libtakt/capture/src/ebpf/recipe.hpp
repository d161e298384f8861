#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "record.h"
#include "takt/tracepoints/tracepoints.hpp"

/// How the arguments of a tracing function become an event when a probe in the kernel sees the
/// call.
namespace takt::capture::ebpf {

/// How the probe keeps each of a tracepoint's arguments.
[[nodiscard]] takt_recipe recipe_of(tracepoints::EventType event);

/// The fields of the event, as libtracetools would have written them, from what the probe kept.
/// `texts` has the call's room for each argument that is more than a value; gids get the call's
/// number of bytes; `version` is that of the process's tracetools.
[[nodiscard]] std::vector<std::byte> fields_of(const takt_call& call,
                                               std::span<const std::byte> texts,
                                               std::string_view version);

/// The name of the function that emits an event: ros_trace_rcl_publish.
[[nodiscard]] std::string function_of(tracepoints::EventType event);

}  // namespace takt::capture::ebpf
