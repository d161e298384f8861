#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "trace.hpp"

namespace takt::capture::ctf {

/// A new random identifier (RFC 4122, version 4).
[[nodiscard]] std::array<std::byte, 16> make_uuid();

/// The text of a trace's metadata (CTF 1.8, section 7). The clock is CLOCK_MONOTONIC of this host,
/// with its offset to the epoch as of now.
[[nodiscard]] std::string metadata(const Description& description,
                                   const std::array<std::byte, 16>& uuid);

}  // namespace takt::capture::ctf
