#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "takt/base/error.hpp"

namespace takt::capture {

/// The tracepoints that patterns of event names select, as a mask of their numbers. Error: a
/// pattern is not of the form provider:name.
[[nodiscard]] Result<std::uint64_t> select(std::span<const std::string> patterns);

}  // namespace takt::capture
