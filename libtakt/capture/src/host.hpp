#pragma once

#include <string>

namespace takt::capture {

/// This host's name.
[[nodiscard]] std::string host_name();

/// How many processors this host has online, as text for a trace's environment.
[[nodiscard]] std::string processor_count();

}  // namespace takt::capture
