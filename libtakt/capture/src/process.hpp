#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace takt::capture {

/// Calls `use` with the number of every process that runs now except this one: a recorder that
/// holds files of the processes that it records is not one of them.
void for_each_other_process(const std::function<void(pid_t)>& use);

/// The number that a process has in its own pid namespace, which is how it calls itself; 0: it is
/// gone.
[[nodiscard]] pid_t own_number_of(pid_t process);

/// How a process is named by a tracer that runs in it: by its own number and the number of its
/// namespace of processes.
struct OwnName {
  pid_t number = 0;
  std::uint64_t name_space = 0;  // 0: not known
};
[[nodiscard]] OwnName own_name_of(pid_t process);

/// The process that started it or has taken it over; 0: it is gone.
[[nodiscard]] pid_t parent_of(pid_t process);

/// Whether a process was started by this one, or by one that was: a process whose parent has ended
/// belongs to the nearest ancestor that takes in orphans, as a recorder with a command does.
[[nodiscard]] bool is_descendant(pid_t process);

/// Whether a process was started with an environment variable of this value, as far as this one may
/// look into it.
[[nodiscard]] bool was_started_with(pid_t process, std::string_view variable,
                                    std::string_view value);

/// The name of a process's program as the kernel has it, at most 15 characters; empty if the
/// process is gone.
[[nodiscard]] std::string program_of(pid_t process);

/// The same, fit for the name of a file.
[[nodiscard]] std::string file_name_of(pid_t process);

/// Whether this thread sees all processes, with the numbers and times of their beginning that the
/// kernel has for them: not in an inner namespace of processes or time, and not where others are
/// hidden from it.
[[nodiscard]] bool sees_all_processes();

/// The number of this process's namespace of processes; 0: it is the outermost.
[[nodiscard]] std::uint32_t inner_name_space();

/// How a thread is scheduled: its policy's number and its priority, as in sched(7), and the cores
/// that it may run on, "0-3,6".
struct Scheduling {
  int policy = 0;
  int priority = 0;
  std::string cores;
  bool operator==(const Scheduling&) const = default;
};
/// None: it has ended.
[[nodiscard]] std::optional<Scheduling> scheduling_of(pid_t thread);

/// When a process began, in hundredths of a second since the machine did; with the number it says
/// which process is meant, as numbers are used again. 0: it is gone.
[[nodiscard]] std::uint64_t start_of(pid_t process);

}  // namespace takt::capture
