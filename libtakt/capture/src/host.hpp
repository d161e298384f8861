#pragma once

#include <string>

#include "takt/ctf/trace.hpp"

namespace takt::capture {

/// This host's name.
[[nodiscard]] std::string host_name();

/// How many processors this host has online, as text for a trace's environment.
[[nodiscard]] std::string processor_count();

/// CLOCK_MONOTONIC, with its offset to the epoch as of now.
[[nodiscard]] ctf::Clock monotonic_clock();

}  // namespace takt::capture
