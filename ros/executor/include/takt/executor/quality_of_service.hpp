#pragma once

#include <rmw/types.h>

#include <cstddef>

namespace takt::executor {

/// Reliable and volatile, keeping the newest `depth` messages.
[[nodiscard]] rmw_qos_profile_t keep_last(std::size_t depth);

}  // namespace takt::executor
