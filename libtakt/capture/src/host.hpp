#pragma once

#include <string>

namespace takt::capture {

/// This host's name.
[[nodiscard]] std::string host_name();

}  // namespace takt::capture
