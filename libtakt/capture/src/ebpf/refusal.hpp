#pragma once

#include <string_view>

#include "takt/base/error.hpp"

namespace takt::capture::ebpf {

/// What the kernel refused, by its negative error number, in words; with the capabilities that this
/// process lacks if that is why.
[[nodiscard]] Error refused(std::string_view what, int code);

}  // namespace takt::capture::ebpf
