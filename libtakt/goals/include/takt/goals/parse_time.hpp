#pragma once

#include <optional>
#include <string_view>

#include "takt/time/time.hpp"

namespace takt::goals {

/// A time above zero with its unit, "125ms", "0.5 s", "800us"; units are s, ms, us, µs and ns, and
/// what is below a nanosecond is cut off. None if the text is no such time or above 100 years.
[[nodiscard]] std::optional<Duration> parse_time(std::string_view text);

}  // namespace takt::goals
