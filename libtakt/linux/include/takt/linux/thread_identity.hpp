#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace takt::linux_os {

/// A thread. Its start tells it apart from a later thread of the same number.
struct ThreadIdentity {
  pid_t process = 0;
  pid_t thread = 0;
  /// In clock ticks since the machine started (proc(5), starttime).
  std::uint64_t start = 0;
  friend auto operator<=>(const ThreadIdentity&, const ThreadIdentity&) = default;
};

/// The thread that has these numbers now; none if the process has no such thread.
[[nodiscard]] std::optional<ThreadIdentity> identify(pid_t process, pid_t thread);

/// The thread of a process that knows itself by this number: another than it has here if the
/// process is in a namespace of processes of its own, as in a container. None if there is no such
/// thread.
[[nodiscard]] std::optional<ThreadIdentity> identify_by_own_number(pid_t process, pid_t number);

/// The processor that it ran on last; none if it is gone.
[[nodiscard]] std::optional<int> processor_of(const ThreadIdentity& thread);

/// Its present name, of which the kernel keeps 15 characters; empty if it is gone.
[[nodiscard]] std::string name_of(const ThreadIdentity& thread);

/// The threads that a process has now and whose names begin with `beginning`; the kernel keeps 15
/// characters.
[[nodiscard]] std::vector<ThreadIdentity> threads_named(pid_t process, std::string_view beginning);

/// Whether it still runs.
[[nodiscard]] inline bool is_alive(const ThreadIdentity& thread) {
  return identify(thread.process, thread.thread) == thread;
}

}  // namespace takt::linux_os
