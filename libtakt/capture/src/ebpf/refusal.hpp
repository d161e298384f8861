#pragma once

#include <string_view>

#include "takt/base/error.hpp"

namespace takt::capture::ebpf {

/// Says in words what the kernel refused and why, by its negative error number. If capabilities of
/// this process are missing, names them.
[[nodiscard]] Error refused(std::string_view what, int code);

}  // namespace takt::capture::ebpf
