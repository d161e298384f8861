#pragma once

#include <map>
#include <string>

#include "takt/time/time.hpp"

namespace takt::manager {

/// What people call executors, by their ids.
using Labels = std::map<std::string, std::string>;

/// For people: "12.3 ms".
[[nodiscard]] std::string milliseconds(Duration time);

}  // namespace takt::manager
