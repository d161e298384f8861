#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "takt/time/time.hpp"

/// Quantities with their units, as people write them.
namespace takt::yaml {

/// A time above zero with its unit, "125ms", "0.5 s", "800us"; units are s, ms, us, µs and ns, and
/// fractions of a nanosecond are cut off. None if the text is no such time or above 100 years.
[[nodiscard]] std::optional<Duration> parse_time(std::string_view text);

/// A number of bytes above zero, "65536", "64kB", "1.5 MB"; units are B, kB (1000), MB and GB.
/// None if the text is no such number or 2^32 and more.
[[nodiscard]] std::optional<std::uint32_t> parse_bytes(std::string_view text);

/// Bits per second above zero, "100Mbit/s", "1 Gbit/s"; units are bit/s, kbit/s, Mbit/s and Gbit/s.
/// None if the text is no such rate or above 10^15.
[[nodiscard]] std::optional<std::int64_t> parse_bandwidth(std::string_view text);

}  // namespace takt::yaml
