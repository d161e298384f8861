#pragma once

#include <sys/types.h>

#include <string>

namespace takt::capture {

/// The name of a process's program as the kernel has it, at most 15 characters; empty if the
/// process is gone.
[[nodiscard]] std::string program_of(pid_t process);

}  // namespace takt::capture
