#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "takt/ctf/trace.hpp"

namespace takt::ctf {

/// A new random identifier (RFC 4122, version 4).
[[nodiscard]] std::array<std::byte, 16> make_uuid();

/// The text of a trace's metadata (CTF 1.8, section 7).
[[nodiscard]] std::string metadata(const Description& description,
                                   const std::array<std::byte, 16>& uuid);

}  // namespace takt::ctf
