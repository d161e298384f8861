#pragma once

#include <string_view>

#include "takt/time/time.hpp"

namespace takt::linux_os {

/// For how long the host of this virtual machine has given its processors to others, all processors
/// together, since the machine began: `steal` in /proc/stat, in steps of 10 ms. 0 where nobody
/// counts it.
[[nodiscard]] Duration stolen_time();

/// The same by the text of /proc/stat.
[[nodiscard]] Duration stolen_time_by(std::string_view statistics);

}  // namespace takt::linux_os
