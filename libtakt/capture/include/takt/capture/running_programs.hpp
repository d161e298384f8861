#pragma once

#include <sys/types.h>

#include <map>

#include "takt/capture/recording.hpp"

namespace takt::capture {

/// The programs of ROS 2 that run now, except this process, and whether a tracer sees what they do.
[[nodiscard]] std::map<pid_t, bool> running_programs(Tracer tracer);

}  // namespace takt::capture
