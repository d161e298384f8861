#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/ctf/trace.hpp"
#include "takt/tracepoints/tracepoints.hpp"

/// ROS 2's and Takt's tracepoints as events of a CTF trace, as LTTng would declare them.
namespace takt::ctf {

/// A string literal of the metadata. Names come from processes: characters that could end or
/// distort the literal are left out.
[[nodiscard]] std::string literal(std::string_view text);

/// An event's class, with its number as id; a gid has `gid_size` bytes.
[[nodiscard]] EventClass event_class(tracepoints::EventType type, std::size_t gid_size);

/// The classes of the programs' events in the mask `events`.
[[nodiscard]] std::vector<EventClass> event_classes(std::uint64_t events, std::size_t gid_size);

/// The declarations of the context before the fields of every event: process, thread and the
/// thread's name.
[[nodiscard]] std::string context_declarations();
using Contexts = std::array<std::byte, 4 + 4 + 17>;
[[nodiscard]] Contexts contexts(pid_t process, std::uint32_t thread,
                                std::span<const char, 16> name);

}  // namespace takt::ctf
