#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace takt::capture {

/// The name of a process's program as the kernel has it, at most 15 characters; empty if the
/// process is gone.
[[nodiscard]] std::string program_of(pid_t process);

/// The same, fit for the name of a file.
[[nodiscard]] std::string file_name_of(pid_t process);

/// When a process began, in hundredths of a second since the machine did; with the number it says
/// which process is meant, as numbers are used again. 0: it is gone.
[[nodiscard]] std::uint64_t start_of(pid_t process);

/// Value of a variable in a process's environment as it was started with; empty without one.
[[nodiscard]] std::string environment_of(pid_t process, std::string_view variable);

}  // namespace takt::capture
