#pragma once

#include <string>

#include "takt/time/time.hpp"

namespace takt::manager {

/// For people: "12.3 ms".
[[nodiscard]] std::string milliseconds(Duration time);

}  // namespace takt::manager
