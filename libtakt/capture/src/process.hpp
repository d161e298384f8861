#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace takt::capture {

/// Calls `use` with the number of every process that runs now except this one: a recorder that
/// holds files of the processes that it records is not one of them.
void for_each_other_process(const std::function<void(pid_t)>& use);

/// The number that a process has in its own pid namespace, which is how it calls itself; 0: it is
/// gone.
[[nodiscard]] pid_t own_number_of(pid_t process);

/// The name of a process's program as the kernel has it, at most 15 characters; empty if the
/// process is gone.
[[nodiscard]] std::string program_of(pid_t process);

/// The same, fit for the name of a file.
[[nodiscard]] std::string file_name_of(pid_t process);

/// Whether this thread sees all processes, with the numbers and times of their beginning that the
/// kernel has for them: not in an inner namespace of processes or time, and not where others are
/// hidden from it.
[[nodiscard]] bool sees_all_processes();

/// When a process began, in hundredths of a second since the machine did; with the number it says
/// which process is meant, as numbers are used again. 0: it is gone.
[[nodiscard]] std::uint64_t start_of(pid_t process);

}  // namespace takt::capture
