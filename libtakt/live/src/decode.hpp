#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/events/event.hpp"

namespace takt::live {

/// Puts the fields of a ring's event into a record; `payload` gets its texts and lists. Returns
/// whether it has any. The bytes are those of the tracepoint's fields and nothing else, as ring
/// readers check.
bool decode(std::uint8_t number, std::span<const std::byte> bytes, std::size_t gid_size,
            events::Event& event, events::Payload& payload);

}  // namespace takt::live
